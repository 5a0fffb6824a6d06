package bookings

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/tuning"
)

// QueuedBookings is the number of bookings that wait for their turn.
func (a *Adder) QueuedBookings() int { return a.starter.concurrency.Waiting() }

// limited makes the call that books a timer once the limiter admits it, in the order of
// arrival. Unlimited bookings would queue before every step of the timers that are due
// (docs/decisions/0012-bookings-in-turn.md). Its own error is [wire.Unavailable], and the
// call was not made.
func limited[T any](ctx context.Context, concurrency *limiter.Limiter, call func() (T, error)) (booked T, err error) {
	queue, cancel := context.WithTimeout(ctx, tuning.LongestQueue)
	defer cancel()
	if _, ok := concurrency.Acquire(queue, time.Now()); !ok {
		return booked, &wire.Error{
			Code: wire.Unavailable, Cause: queue.Err(),
			Message: "The timer engine could not take the booking in time. Nothing was started; repeat the request.",
		}
	}
	began := time.Now()
	defer func() {
		if err != nil { // the time of a refusal says nothing about the time of a booking
			concurrency.Discard()
			return
		}
		concurrency.Release(time.Since(began))
	}()
	return call()
}
