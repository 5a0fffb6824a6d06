package operations

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
)

// probed is a readiness that asks probe, until stopping is done.
func probed(stopping context.Context, probe func(context.Context) error, paused pausedList) *readiness {
	return newReadiness(Options{Ready: probe, Paused: paused, Stopping: stopping})
}

// A caller that hangs up takes the answer from nobody else, neither from those who wait
// with it nor from those who come after.
func TestAbortedReadinessHarmsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		r := probed(t.Context(), func(ctx context.Context) error {
			asked.Add(1)
			select {
			case <-time.After(50 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}, pausing{})
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
		require.Equal(t, "all callbacks are paused since 1970-01-01T00:00:00.007Z", r.remarks())
	})
}

func TestReadinessIsAskedOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var answer error
		asked := 0
		r := probed(t.Context(), func(context.Context) error { asked++; return answer }, nil)
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
		stopping, stop := context.WithCancel(t.Context())
		r := probed(stopping, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, nil)
		began := time.Now()
		require.ErrorIs(t, r.check(t.Context()), context.DeadlineExceeded)
		require.Equal(t, tuning.ReadyTimeout, time.Since(began))
		<-time.After(tuning.ReadyTrusted)
		var waiting sync.WaitGroup
		waiting.Go(func() { require.ErrorIs(t, r.check(t.Context()), errStopping) })
		synctest.Wait()
		stop()
		waiting.Wait()
		require.ErrorIs(t, r.check(t.Context()), errStopping)
	})
}

// pausing has everything paused, or a list that is no longer than it may be.
type pausing struct {
	types int
	err   error
}

func (p pausing) List(context.Context) ([]policy.Emergency, error) {
	if p.types > 0 {
		return []policy.Emergency{{BusinessType: "invoice", Author: "ops"}, {BusinessType: "order", Author: "ops"}}, p.err
	}
	return []policy.Emergency{{Everything: true, Author: "ops", Since: 7}}, p.err
}

func TestTheNoteOfReadiness(t *testing.T) {
	t.Parallel()
	require.Empty(t, probed(t.Context(), nil, nil).paused(t.Context()))
	require.Empty(t, probed(t.Context(), nil, pausing{err: errStopping}).paused(t.Context()), "what cannot be told is not told")
	require.Equal(t, "callbacks are paused for 2 business types", probed(t.Context(), nil, pausing{types: 2}).paused(t.Context()))
	require.Empty(t, noteOf(nil))
	require.Equal(t, "callbacks are paused for 1 business type", noteOf([]policy.Emergency{{BusinessType: "invoice"}}))
}
