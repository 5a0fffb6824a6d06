package engine

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestBookingsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bookings := newTurns(leastBookings, bookingSlowdown)
		var made atomic.Int32
		for range 50 {
			go func() {
				_, _ = inTurn(t.Context(), bookings, func() (string, error) {
					made.Add(1)
					<-time.After(100 * time.Millisecond)
					return "", context.Canceled
				})
			}()
		}
		synctest.Wait()
		require.EqualValues(t, leastBookings, made.Load(), "no more at once")
		<-time.After(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 50, made.Load(), "a call that fails gives its turn back")
		require.Zero(t, bookings.taken)
	})
}

func TestBookingWithoutATurnIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bookings := newTurns(leastBookings, bookingSlowdown)
		for range leastBookings {
			_, ok := bookings.take(t.Context(), time.Now())
			require.True(t, ok)
		}
		book := func() (string, error) {
			t.Error("it was made")
			return "", t.Context().Err()
		}
		began := time.Now()
		e := &Engine{bookings: bookings}
		go func() { _, _ = inTurn(t.Context(), bookings, book) }()
		synctest.Wait()
		require.Equal(t, 1, e.QueuedBookings())
		_, err := inTurn(t.Context(), bookings, book)
		synctest.Wait()
		require.Zero(t, e.QueuedBookings())
		require.Equal(t, timer.Unavailable, timer.CodeOf(err))
		require.Equal(t, longestQueue, time.Since(began))

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = inTurn(gone, bookings, book)
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, bookings.waiting)
	})
}

// An engine that is away refuses at once: were that the quickest booking, later
// ones would all be too slow, and only the least of them would go at once.
func TestRefusalIsNoMeasureOfABooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bookings := newTurns(leastBookings, bookingSlowdown)
		for _, refused := range []error{context.Canceled, nil} {
			_, err := inTurn(t.Context(), bookings, func() (string, error) {
				<-time.After(time.Millisecond)
				return "", refused
			})
			require.Equal(t, refused, err)
			require.Equal(t, refused == nil, bookings.quickest > 0)
		}
	})
}

func TestLimitsNameTheTurnsOfBookings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/limits.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("| bookings under way at once | %d to %d a gateway, ", leastBookings, mostTurns))
	require.Contains(t, string(page), fmt.Sprintf("503 after %s in the queue", longestQueue))
}
