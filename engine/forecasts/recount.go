package forecasts

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// recount counts the next minutes, and takes the others from an earlier count. It returns nil
// if those may have changed. They have not if no run of the type has begun since, as many
// timers are due in them, and as many recur: the due time of a run never changes, and a timer that was tried
// never waits for its first attempt again. A recurring timer whose next ring is near may end, and with it the rings
// that follow.
func (c *forecastCount) recount(ctx context.Context, r Request, before *histogram) (*histogram, error) {
	if !before.carries(r.From) {
		return nil, nil
	}
	near := r.From.Add(tuning.ForecastNear)
	since := before.at.Add(-tuning.VisibilityLag)
	begun, err := c.number(ctx, query.All(visibility.OpenTimers(c.businessType), query.StartTime.From(since)))
	if err != nil || begun > 0 {
		return nil, err
	}
	untried, end := before.untriedFrom(near)
	n, err := c.between(ctx, visibility.Untried(), near, end)
	if err != nil || n != untried {
		return nil, err
	}
	if before.recurring > 0 {
		if n, err = c.number(ctx, c.recurring()); err != nil || n != before.recurring {
			return nil, err
		}
	}
	slots, err := c.divide(ctx, Request{From: r.From, To: near, Step: r.Step})
	if err != nil {
		return nil, err
	}
	return before.continued(near, slots), nil
}

// carries reports whether a later count, from a minute on, may take over what has not changed:
// the histogram has nothing but what visibility showed. All is counted anew once in a while.
func (h *histogram) carries(from wire.Instant) bool {
	return h != nil && !h.booked && from >= h.slots[0].At && time.Since(h.whole.Time()) < tuning.ForecastWhole
}

// untriedFrom is how many timers visibility showed from a minute on, and until when.
func (h *histogram) untriedFrom(minute wire.Instant) (n int, end wire.Instant) {
	for _, due := range h.untried[minute.Time().Sub(h.slots[0].At.Time())/forecast.DefaultStep:] {
		n += due
	}
	return n, h.slots[len(h.slots)-1].End()
}

// continued returns a histogram that has newly counted slots up to a minute, and those of h after it.
func (h *histogram) continued(minute wire.Instant, counted []forecast.Slot) *histogram {
	next := &histogram{whole: h.whole, rung: h.rung, recurring: h.recurring, uncounted: h.uncounted}
	for _, slot := range counted {
		next.untried = append(next.untried, slot.Due)
		for _, rung := range h.rung[slot.At] {
			slot.Due += rung
		}
		next.slots = append(next.slots, slot)
	}
	next.untried = append(next.untried, h.untried[minute.Time().Sub(h.slots[0].At.Time())/forecast.DefaultStep:]...)
	for _, slot := range h.slots {
		if slot.At >= minute {
			slot.Items = 0
			next.slots = append(next.slots, slot)
		}
	}
	return next
}
