package api

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// A caller that hangs up takes the answer from nobody else, neither from those who wait
// with it nor from those who come after.
func TestAbortedReadinessHarmsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		r := newReadiness(func(ctx context.Context) error {
			asked.Add(1)
			select {
			case <-time.After(50 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		hasty, hangUp := context.WithTimeout(t.Context(), time.Millisecond)
		defer hangUp()
		var honest sync.WaitGroup
		honest.Go(func() { require.ErrorIs(t, r.check(hasty), context.DeadlineExceeded) })
		synctest.Wait()
		for range 10 {
			honest.Go(func() { require.NoError(t, r.check(t.Context())) })
		}
		honest.Wait()
		require.NoError(t, r.check(t.Context()))
		require.EqualValues(t, 1, asked.Load(), "the question is everybody's")
	})
}

func TestReadinessIsAskedOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var answer error
		asked := 0
		r := newReadiness(func(context.Context) error { asked++; return answer })
		require.NoError(t, r.check(t.Context()))
		answer = errors.New("down")
		require.NoError(t, r.check(t.Context()), "so said the last answer")
		<-time.After(tuning.ReadyTrusted)
		require.ErrorIs(t, r.check(t.Context()), answer)
		require.Equal(t, 2, asked)
	})
}

// A probe that hangs is given up, and one that is under way ends with the process.
func TestReadinessIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newReadiness(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		began := time.Now()
		require.ErrorIs(t, r.check(t.Context()), context.DeadlineExceeded)
		require.Equal(t, tuning.ReadyTimeout, time.Since(began))
		<-time.After(tuning.ReadyTrusted)
		var waiting sync.WaitGroup
		waiting.Go(func() { require.ErrorIs(t, r.check(t.Context()), errLeaving) })
		synctest.Wait()
		r.leave()
		waiting.Wait()
		require.ErrorIs(t, r.check(t.Context()), errLeaving)
	})
}
