package scenario

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
)

const (
	// chunk is the number of timers per call.
	chunk = 250
	// slowest is the assumed pace of an unknown subject.
	slowest = 10 * time.Millisecond
	// settle is the pause between the last booking and the first ring: the background work
	// of booking is not measured.
	settle = 3 * time.Second
)

// ring books timers so far ahead that all are stored well before the first one is due.
func (r *Runner) ring(ctx context.Context, plan Plan) (Booking, error) {
	if plan.Preload > 0 {
		if skipped, err := r.preload(ctx, plan.Preload); skipped != "" || err != nil {
			return Booking{Skipped: skipped}, err
		}
	}
	begin := time.Now()
	first := begin.Add(r.ahead(plan)).Truncate(time.Second).Add(time.Second)
	if plan.Within > 0 {
		first = begin.Add(plan.Within)
	}
	timers := spread(plan, first)
	if plan.Mass {
		return r.mass(ctx, timers, first)
	}
	for some := range slices.Chunk(timers, chunk) {
		if _, err := r.subject.AddBatch(ctx, some); err != nil {
			return Booking{}, err
		}
	}
	r.pace = time.Since(begin) / time.Duration(plan.Timers)
	booking := Booking{Expected: timers}
	if time.Until(first) < plan.margin()-settle/2 {
		booking.Late = plan.Timers
	}
	return booking, nil
}

// mass requests many callbacks at once: by the subject's own operation, or by a job for each.
func (r *Runner) mass(ctx context.Context, timers []subject.Timer, from time.Time) (booking Booking, err error) {
	defer func() {
		if time.Now().After(from) {
			booking.Late = len(timers)
		}
	}()
	if masser, can := r.subject.(subject.Masser); can {
		return Booking{Expected: timers}, masser.Mass(ctx, timers, from)
	}
	if _, traces := r.subject.(subject.Tracer); traces {
		return Booking{Skipped: "it is the herd once more"}, nil
	}
	for some := range slices.Chunk(timers, chunk) {
		if _, err := r.subject.AddBatch(ctx, some); err != nil {
			return Booking{}, err
		}
	}
	return Booking{Expected: timers}, nil
}

// margin is the time to leave between the last booking and the first due time, so that no
// timer is taken up by then.
func (p Plan) margin() time.Duration {
	if p.Within > 0 {
		return settle / 2
	}
	return settle + max(p.Preload, p.Ahead)
}

// ahead is how long before the first due time booking begins.
func (r *Runner) ahead(plan Plan) time.Duration {
	pace := r.pace
	if pace == 0 {
		pace = slowest
	}
	return time.Duration(plan.Timers)*pace*3/2 + plan.margin()
}

// spread makes the timers of a plan, in the order of their due times.
func spread(plan Plan, first time.Time) []subject.Timer {
	timers := make([]subject.Timer, plan.Timers)
	for i := range timers {
		due := first.Add(plan.Over * time.Duration(i) / time.Duration(plan.Timers))
		timers[i] = subject.Timer{ID: id(plan, i), Due: due.Truncate(time.Millisecond), Preload: plan.Preload > 0}
	}
	return timers
}

func (r *Runner) preload(ctx context.Context, lead time.Duration) (skipped string, err error) {
	preloader, can := r.subject.(subject.Preloader)
	if !can {
		return "it holds no timers", nil
	}
	return skip(preloader.Preload(ctx, lead))
}

// skip separates unsupported operations from failures.
func skip(err error) (skipped string, _ error) {
	if errors.Is(err, subject.ErrUnsupported) {
		return err.Error(), nil
	}
	return "", err
}
