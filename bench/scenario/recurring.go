package scenario

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
)

// recurring books timers that all ring at every whole multiple of the interval,
// and lets them ring for some time.
func (r *Runner) recurring(ctx context.Context, plan Plan) (Booking, error) {
	recurrer, can := r.subject.(subject.Recurrer)
	if !can {
		return Booking{Skipped: "its timers do not recur"}, nil
	}
	booking := Booking{Every: plan.Every}
	for i := range plan.Timers {
		timer := subject.Timer{ID: id(plan, i)}
		if skipped, err := skip(recurrer.Recur(ctx, timer.ID, plan.Every)); skipped != "" || err != nil {
			return Booking{Skipped: skipped}, err
		}
		booking.Expected = append(booking.Expected, timer)
	}
	booking.From = time.Now().Add(settle).Truncate(plan.Every).Add(plan.Every)
	booking.Until = booking.From.Add(plan.For)
	if !until(ctx, booking.Until.Add(plan.Every)) { // the last ones may be late
		return Booking{}, ctx.Err()
	}
	for _, timer := range booking.Expected {
		if err := recurrer.Rest(ctx, timer.ID); err != nil {
			return Booking{}, err
		}
	}
	return booking, nil
}
