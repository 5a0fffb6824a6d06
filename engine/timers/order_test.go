package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/waits"
)

func listerOn(client client.Client) *Lister {
	k := kernel.New(client, "default", "")
	policies := policies.New(k, policies.Config{TTL: time.Hour})
	return NewLister(k, NewReader(k, policies, waits.New(policies, emergencies.New(k, time.Hour), queues.New(k, policies), nil)))
}

// A page of a list by due time counts few timers beside its own, wherever they lie.
func TestSortedPagesCountLittle(t *testing.T) {
	t.Parallel()
	const size, all = 50, 6 * 3600
	for name, c := range map[string]struct {
		ahead time.Duration
		sort  timer.Sort
		most  int
	}{
		"soon":         {time.Minute, timer.DueFirst, all / 5},
		"next month":   {30 * 24 * time.Hour, timer.DueFirst, 5 * all},
		"from the end": {time.Minute, timer.DueLast, 5 * all},
		"a month ago":  {-30 * 24 * time.Hour, timer.DueFirst, 5 * all},
	} {
		first := enginetest.MinuteIn(c.ahead)
		v := enginetest.EverySecond(first, 6)
		lister := listerOn(v)
		var listed []wire.Instant
		for token := []byte(nil); len(listed) < 3*size; {
			page, err := lister.List(t.Context(), PageRequest{Sort: c.sort, Size: size, Token: token})
			require.NoError(t, err)
			for _, view := range page.Timers {
				listed = append(listed, view.DueAt)
			}
			token = page.Next
			require.NotEmpty(t, token)
		}
		for i, at := range listed {
			want := first.Add(time.Duration(i) * time.Second)
			if c.sort == timer.DueLast {
				want = first.Add(time.Duration(all-1-i) * time.Second)
			}
			require.Equal(t, want, at, name)
		}
		require.LessOrEqual(t, v.Counted, c.most, name)
	}
}
