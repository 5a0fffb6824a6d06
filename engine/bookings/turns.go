package bookings

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/tuning"
)

// QueuedBookings is how many bookings wait to be let go.
func (a *Adder) QueuedBookings() int { return a.starter.bookings.Waiting() }

// limited makes the call that books a timer once the limiter lets it go, in the order
// in which they came. Bookings as fast as they go would otherwise stand in line before
// every step of what is due meanwhile (docs/decisions/0012-bookings-in-turn.md).
// Its own error is [wire.Unavailable], and the call was not made.
func limited[T any](ctx context.Context, bookings *limiter.Limiter, call func() (T, error)) (booked T, err error) {
	queue, cancel := context.WithTimeout(ctx, tuning.LongestQueue)
	defer cancel()
	if _, ok := bookings.Acquire(queue, time.Now()); !ok {
		return booked, &wire.Error{
			Code: wire.Unavailable, Cause: queue.Err(),
			Message: "The timer engine could not take the booking in time. Nothing was started; repeat the request.",
		}
	}
	began := time.Now()
	defer func() {
		if err != nil { // how long a refusal took tells nothing of how long a booking takes
			bookings.Discard()
			return
		}
		bookings.Release(time.Since(began))
	}()
	return call()
}
