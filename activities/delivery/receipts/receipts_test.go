package receipts

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := New()
	require.NoError(t, err)
	return s
}

// A run rings once, however often its task is handed out.
func TestOnce(t *testing.T) {
	t.Parallel()
	s, calls := newStore(t), 0
	attempt := func() (delivery.Report, error) {
		calls++
		return delivery.Report{Result: delivery.ResultDelivered, Attempt: calls}, nil
	}
	report, repeated, err := s.Once("run", attempt)
	require.NoError(t, err)
	require.False(t, repeated)
	again, repeated, err := s.Once("run", attempt)
	require.NoError(t, err)
	require.True(t, repeated)
	require.Equal(t, report, again)
	require.Equal(t, 1, calls)
	_, repeated, _ = s.Once("another run", attempt)
	require.False(t, repeated)
	require.Equal(t, 2, calls)
}

// A failed attempt and a released timer leave no receipt.
func TestNoReceipt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report delivery.Report
		err    error
	}{
		"failed":   {delivery.Report{}, errors.New("no")},
		"released": {delivery.Report{Result: delivery.ResultInterrupted}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			_, _, err := s.Once("run", func() (delivery.Report, error) {
				require.True(t, s.Has("run"), "it is under way")
				return c.report, c.err
			})
			require.Equal(t, c.err, err)
			require.False(t, s.Has("run"))
			found, err := s.Wait(t.Context(), "run")
			require.NoError(t, err)
			require.Equal(t, delivery.ResultUseQueue, found.Result)
		})
	}
}

// A caller that asks for an attempt under way waits for the end of the attempt, or for its own.
func TestAnAttemptUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, answer := newStore(t), make(chan struct{})
		delivered := delivery.Report{Result: delivery.ResultDelivered}
		go func() { _, _, _ = s.Once("run", func() (delivery.Report, error) { <-answer; return delivered, nil }) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Wait(ctx, "run")
		require.ErrorIs(t, err, context.Canceled)
		joined := make(chan delivery.Report, 2)
		go func() { report, _ := s.Wait(t.Context(), "run"); joined <- report }()
		go func() {
			report, repeated, _ := s.Once("run", nil)
			require.True(t, repeated)
			joined <- report
		}()
		synctest.Wait()
		require.Empty(t, joined)
		close(answer)
		require.Equal(t, delivered, <-joined)
		require.Equal(t, delivered, <-joined)
	})
}

// A panic ends the attempt for those that have joined it. The SDK recovers it, and hands the task
// out again.
func TestAnAttemptThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, broken := newStore(t), make(chan struct{})
		go func() {
			defer func() { _ = recover() }()
			_, _, _ = s.Once("run", func() (delivery.Report, error) {
				<-broken
				panic("broken") //nolint:forbidigo // as a fault of ours does
			})
		}()
		synctest.Wait()
		joined := make(chan error, 1)
		go func() { _, _, err := s.Once("run", nil); joined <- err }()
		synctest.Wait()
		close(broken)
		synctest.Wait()
		require.Len(t, joined, 1)
		require.ErrorIs(t, <-joined, errUnfinished)
		require.False(t, s.Has("run"))
	})
}
