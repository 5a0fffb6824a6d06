package turns_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/turns"
)

// work holds a place until other work must have it, and comes back at once, until ctx ends. It
// sums the time with a place.
func work(ctx context.Context, t *turns.Turns, businessType string, had *time.Duration) {
	for {
		place := t.Acquire(ctx, businessType, time.Now())
		if place == nil {
			return
		}
		began := time.Now()
		select {
		case <-place.GiveUp():
		case <-ctx.Done():
		}
		*had += time.Since(began)
		place.Release()
		if ctx.Err() != nil {
			return
		}
	}
}

// With any amount of work of one type, work of another begins within moments, and types with too
// much work have equal shares.
func TestTypesShareThePlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		shared := turns.New(8, time.Second)
		had := make([]time.Duration, 20)
		for n := range 14 {
			go work(ctx, shared, "slow", &had[n])
		}
		synctest.Wait()
		for _, businessType := range []string{"b", "c", "d", "e"} {
			began := time.Now()
			place := shared.Acquire(ctx, businessType, time.Now())
			require.Less(t, time.Since(began), time.Second, businessType)
			defer place.Release()
		}
		for n := 14; n < 20; n++ {
			go work(ctx, shared, "greedy", &had[n])
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // synctest's
		synctest.Wait()
		cancel()
		synctest.Wait()
		var slow, greedy time.Duration
		for n, d := range had {
			require.Positive(t, d, "%d had its turn", n)
			if n < 14 {
				slow += d
			} else {
				greedy += d
			}
		}
		require.Greater(t, greedy, 15*time.Second, "two of the four places")
		require.Greater(t, slow, 15*time.Second)
	})
}

// One type alone has every place, and yields none to itself before a long turn.
func TestOneTypeAloneHasEveryPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := turns.New(3, time.Minute)
		places := []*turns.Place{}
		for range 3 {
			places = append(places, shared.Acquire(t.Context(), "a", time.Now()))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		require.Nil(t, shared.Acquire(ctx, "a", time.Now()))
		for _, place := range places {
			select {
			case <-place.GiveUp():
				require.Fail(t, "it was asked for")
			default:
			}
		}
		places[1].Release()
		require.NotNil(t, shared.Acquire(t.Context(), "a", time.Now()))
	})
}

// If a requested place stays busy, another one is requested.
func TestABusyPlaceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := turns.New(2, time.Minute)
		busy, idle := shared.Acquire(t.Context(), "a", time.Now()), shared.Acquire(t.Context(), "a", time.Now())
		go func() { <-idle.GiveUp(); idle.Release() }()
		began := time.Now()
		require.NotNil(t, shared.Acquire(t.Context(), "b", time.Now()))
		require.Less(t, time.Since(began), time.Second)
		<-busy.GiveUp()
	})
}
