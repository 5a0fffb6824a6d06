package worker

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// plenty is a limit that is never reached.
const plenty = 1000

// fill takes slots until the next one would wait.
func fill(b *Bulkhead, businessType string, share int) (leaves []func()) {
	none, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		leave, ok := b.Enter(none, businessType, share, plenty)
		if !ok {
			return leaves
		}
		leaves = append(leaves, leave)
	}
}

func TestATypeKeepsToItsShare(t *testing.T) {
	b := NewBulkhead(100)
	require.Len(t, fill(b, "a", 10), 10)
	require.Len(t, fill(b, "b", 20), 20)
}

// However many types hang, the next one gets a slot.
func TestASlotRemainsForTheNextType(t *testing.T) {
	b := NewBulkhead(1000)
	for n := range 9 {
		require.NotEmpty(t, fill(b, string(rune('a'+n)), 1000), "type %d", n)
	}
}

func TestEverySlotComesBack(t *testing.T) {
	b := NewBulkhead(50)
	first := fill(b, "a", 50)
	for _, leave := range first {
		leave()
	}
	require.Empty(t, b.types)
	require.Empty(t, b.queued)
	require.Len(t, fill(b, "a", 50), len(first))
}

func TestWhoWaitsIsServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBulkhead(10)
		leave, _ := b.Enter(t.Context(), "a", 1, plenty)
		var mu sync.Mutex
		var served []int
		for n := range 3 {
			go func() {
				leave, ok := b.Enter(t.Context(), "a", 1, plenty)
				assert.True(t, ok)
				mu.Lock()
				served = append(served, n)
				mu.Unlock()
				<-time.After(tuning.IdleSlotWait / 10)
				leave()
			}()
			synctest.Wait()
		}
		leave()
		<-time.After(tuning.IdleSlotWait / 2)
		synctest.Wait()
		require.True(t, slices.IsSorted(served))
		require.Len(t, served, 3)
		require.Empty(t, b.queued)
	})
}

func TestNobodyWaitsForALongHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBulkhead(10)
		hanging, _ := b.Enter(t.Context(), "a", 1, plenty)
		began := time.Now()
		_, ok := b.Enter(t.Context(), "a", 1, plenty)
		require.False(t, ok)
		require.Equal(t, tuning.IdleSlotWait, time.Since(began))
		require.Empty(t, b.queued, "who gave up is not served")
		hanging()
		require.Empty(t, b.types)
	})
}

func TestASlotOfAnotherTypeCanBeTheOneThatWasMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBulkhead(4)
		others := fill(b, "b", 2)
		mine := fill(b, "a", 4)
		require.Len(t, mine, 1, "no more than is left over for others")
		entered := make(chan bool)
		go func() {
			_, ok := b.Enter(t.Context(), "a", 4, plenty)
			entered <- ok
		}()
		synctest.Wait()
		others[0]()
		others[1]()
		require.True(t, <-entered)
	})
}

func TestAHerdWaitsWhileSlotsBecomeFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBulkhead(10)
		var done sync.WaitGroup
		var refused atomic.Int32
		for range 30 { // each for half a second, one after another
			done.Go(func() {
				leave, ok := b.Enter(t.Context(), "a", 1, plenty)
				if !ok {
					refused.Add(1)
					return
				}
				<-time.After(tuning.IdleSlotWait / 2)
				leave()
			})
		}
		began := time.Now()
		done.Wait()
		require.LessOrEqual(t, time.Since(began), tuning.BusySlotWait+tuning.IdleSlotWait)
		require.InDelta(t, 30-2*tuning.BusySlotWait/tuning.IdleSlotWait, refused.Load(), 1, "but not for ever")
	})
}

// If a type may have one attempt only, either path may make it, and the later attempt does not
// wait for long.
func TestBothPathsKeepToOneLimit(t *testing.T) {
	const limit = 1
	fast := func(ctx context.Context, b *Bulkhead) (func(), bool) { return b.Enter(ctx, "a", limit, limit) }
	queue := func(ctx context.Context, b *Bulkhead) (func(), bool) { return b.EnterQueue(ctx, "a", limit) }
	for name, c := range map[string]struct {
		first, second func(context.Context, *Bulkhead) (func(), bool)
		wait          time.Duration
	}{
		"fast, then fast":   {fast, fast, tuning.IdleSlotWait},
		"fast, then queue":  {fast, queue, tuning.QueueSlotWait},
		"queue, then fast":  {queue, fast, tuning.IdleSlotWait},
		"queue, then queue": {queue, queue, tuning.QueueSlotWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewBulkhead(10)
				began := time.Now()
				leave, ok := c.first(t.Context(), b)
				require.True(t, ok)
				require.Zero(t, time.Since(began), "the first is prompt")
				_, ok = c.second(t.Context(), b)
				require.False(t, ok)
				require.Equal(t, c.wait, time.Since(began))
				time.AfterFunc(c.wait/2, leave)
				began = time.Now()
				leave, ok = c.second(t.Context(), b)
				require.True(t, ok, "it gets the slot that was given back")
				require.Equal(t, c.wait/2, time.Since(began))
				leave()
				require.Empty(t, b.types)
				require.Empty(t, b.queued)
			})
		})
	}
}
