package failover

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Those who ask during a look share the next one, and none gets one that began before it asked.
func TestLooksAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, failed := 0, errors.New("failed")
		shared := newLooks(func(context.Context) error {
			began++
			<-time.After(time.Second)
			if began == 2 {
				return failed
			}
			return nil
		})
		var asking sync.WaitGroup
		ask := func(want error) {
			asking.Go(func() { require.Equal(t, want, shared.await(t.Context())) })
			synctest.Wait()
		}
		ask(nil)
		for range 10 {
			ask(failed)
		}
		asking.Wait()
		require.Equal(t, 2, began)
		ask(nil)
		asking.Wait()
		require.Equal(t, 3, began)
	})
}

// Who waits for a look of another gives up with its own time.
func TestASharedLookIsNotWaitedForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := newLooks(func(context.Context) error { <-time.After(time.Minute); return nil })
		var looking sync.WaitGroup
		for range 2 {
			looking.Go(func() { require.NoError(t, shared.await(t.Context())) })
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, shared.await(ctx), context.DeadlineExceeded)
		looking.Wait()
	})
}
