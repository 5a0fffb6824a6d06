package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestBookingsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{})
		var made atomic.Int32
		for range 50 {
			go func() {
				_ = e.inTurn(t.Context(), func() error {
					made.Add(1)
					<-time.After(100 * time.Millisecond)
					return context.Canceled
				})
			}()
		}
		synctest.Wait()
		require.EqualValues(t, leastBookings, made.Load(), "no more at once")
		<-time.After(time.Minute)
		require.EqualValues(t, 50, made.Load(), "a call that fails gives its turn back")
	})
}

func TestBookingWithoutATurnIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{})
		for range leastBookings {
			_, ok := e.bookings.take(t.Context(), time.Now())
			require.True(t, ok)
		}
		began := time.Now()
		err := e.inTurn(t.Context(), func() error {
			t.Error("it was made")
			return nil
		})
		require.Equal(t, timer.Unavailable, timer.CodeOf(err))
		require.Equal(t, longestQueue, time.Since(began))

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, e.inTurn(gone, func() error { return nil }), context.Canceled)
		require.Empty(t, e.bookings.waiting)
	})
}
