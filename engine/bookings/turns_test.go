package bookings

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/tuning"
)

func TestBookingsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bookings := limiter.New(tuning.LeastBookings, tuning.BookingSlowdown)
		var made atomic.Int32
		for range 50 {
			go func() {
				_, _ = limited(t.Context(), bookings, func() (string, error) {
					made.Add(1)
					<-time.After(100 * time.Millisecond)
					return "", context.Canceled
				})
			}()
		}
		synctest.Wait()
		require.EqualValues(t, tuning.LeastBookings, made.Load(), "no more at once")
		<-time.After(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 50, made.Load(), "a call that fails is not counted any more")
		require.Zero(t, bookings.InUse())
	})
}

func TestABookingThatWaitsTooLongIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bookings := limiter.New(tuning.LeastBookings, tuning.BookingSlowdown)
		for range tuning.LeastBookings {
			_, ok := bookings.Acquire(t.Context(), time.Now())
			require.True(t, ok)
		}
		book := func() (string, error) {
			t.Error("it was made")
			return "", t.Context().Err()
		}
		began := time.Now()
		e := &Adder{starter: &starter{concurrency: bookings}}
		go func() { _, _ = limited(t.Context(), bookings, book) }()
		synctest.Wait()
		require.Equal(t, 1, e.QueuedBookings())
		_, err := limited(t.Context(), bookings, book)
		synctest.Wait()
		require.Zero(t, e.QueuedBookings())
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.Equal(t, tuning.LongestQueue, time.Since(began))

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = limited(gone, bookings, book)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, bookings.Waiting())
	})
}

// A start delay counts from the call. A booking that waits for its turn is due when it was before.
func TestABookingThatWaitsIsDueAtItsTime(t *testing.T) {
	t.Parallel()
	const queued = tuning.LongestQueue - time.Second
	for name, book := range map[string]func(d fixture, r Request) (timer.View, error){
		"added": func(d fixture, r Request) (timer.View, error) {
			view, _, err := d.Add(context.Background(), r)
			return view, err
		},
		"put": func(d fixture, r Request) (timer.View, error) {
			view, _, err := d.Upsert(context.Background(), r, 0)
			return view, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				bookings := d.Adder.starter.concurrency
				for range tuning.LeastBookings {
					_, ok := bookings.Acquire(t.Context(), time.Now())
					require.True(t, ok)
				}
				time.AfterFunc(queued, bookings.Discard)
				began := time.Now()
				view, err := book(d, in(time.Hour, "1"))
				require.NoError(t, err)
				require.Equal(t, queued, time.Since(began))
				described, err := d.temporal.DescribeWorkflowExecution(t.Context(), order1ID, "")
				require.NoError(t, err)
				wakes := described.GetWorkflowExecutionInfo().GetExecutionTime().AsTime()
				require.WithinDuration(t, view.Memo.WakesAt().Time(), wakes, time.Millisecond)
			})
		})
	}
}

// An engine that is away refuses at once: were that the quickest booking, later
// ones would all be too slow, and only the least of them would go at once.
func TestRefusalIsNoMeasureOfABooking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bookings := limiter.New(tuning.LeastBookings, tuning.BookingSlowdown)
		for _, refused := range []error{context.Canceled, nil} {
			_, err := limited(t.Context(), bookings, func() (string, error) {
				<-time.After(time.Millisecond)
				return "", refused
			})
			require.Equal(t, refused, err)
			require.Equal(t, refused == nil, bookings.Quickest() > 0)
		}
	})
}

func TestThePageOfLimitsNamesThoseOfBookings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/limits.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("| bookings under way at once | %d to %d a gateway, ", tuning.LeastBookings, tuning.MaxConcurrency))
	require.Contains(t, string(page), fmt.Sprintf("503 after %s in the queue", tuning.LongestQueue))
}
