package forecasts

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// typeForecast holds the counts of one business type.
type typeForecast struct {
	businessType string

	mu      sync.Mutex
	counted *histogram    // nil before the first count
	took    time.Duration // of the last count
	err     error         // of the last count
	filling chan struct{}
	again   time.Time
	asked   time.Time // the last request
	began   time.Time // the count under way, or the last one
	// recent are this process's bookings of the last minute, the latest at the end.
	recent []recentBooking
}

// recentBooking is a booking that a count may miss.
type recentBooking struct {
	due wire.Instant
	at  time.Time
}

// await returns the counts. It waits for the count under way if nothing is known, if the
// last count is too old, or if this one will be short.
func (o *typeForecast) await(ctx context.Context, filling <-chan struct{}) (*histogram, error) {
	o.mu.Lock()
	waits := filling != nil && (o.stale() || o.took < tuning.ForecastQuick)
	o.mu.Unlock()
	if waits {
		select {
		case <-filling:
		case <-ctx.Done():
			return nil, kernel.Translate(ctx.Err())
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil && o.stale() {
		return nil, o.err
	}
	return o.counted.clone(), nil
}

// stale reports whether nothing useful is known: there are too many types, or Temporal has
// not answered for a while.
func (o *typeForecast) stale() bool {
	return o.counted == nil || (time.Now().After(o.again) && time.Since(o.counted.at.Time()) > tuning.ForecastStale)
}

// questions is how many the last count took; 0 before the first one.
func (o *typeForecast) questions() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counted == nil {
		return 0
	}
	return o.counted.questions
}

// serves reports whether the last count is new enough for a page that is kept up to date.
func (o *typeForecast) serves() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counted != nil && time.Since(o.counted.at.Time()) < tuning.ForecastStale
}

func (o *typeForecast) markAsked(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = now
}

func (o *typeForecast) askedSince(at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked.After(at)
}

// countIn counts a new timer in. A moved timer may have been in the same minute, and one that a call left as it is was
// counted before.
func (o *typeForecast) countIn(booked timer.View) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if booked.Revision > 1 || booked.Unchanged || booked.PendingChange != "" {
		return
	}
	now := time.Now()
	for len(o.recent) > 0 && now.Sub(o.recent[0].at) > tuning.ForecastAsked {
		o.recent = o.recent[1:]
	}
	if len(o.recent) < tuning.ForecastBooked {
		o.recent = append(o.recent, recentBooking{booked.DueAt, now})
	}
	if o.counted != nil {
		o.counted.book(booked.DueAt)
	}
}

// last returns a copy of the last count with the bookings since; nil before the first one.
func (o *typeForecast) last() *histogram {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counted == nil {
		return nil
	}
	return o.counted.clone()
}

// bookedSince are the due times of this process's bookings since a moment.
func (o *typeForecast) bookedSince(moment time.Time) (due []wire.Instant) {
	for _, booking := range o.recent {
		if booking.at.After(moment) {
			due = append(due, booking.due)
		}
	}
	return due
}

// end ends a count. The next one waits, the longer the more types are asked for, and for a multiple of
// its duration. nothing reports whether nothing is known.
func (o *typeForecast) end(counted *histogram, err error, asked time.Duration) (nothing bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.took, o.err = time.Since(o.began), err
	if err == nil {
		o.again = time.Now().Add(max(min(asked*tuning.ForecastFresh, tuning.ForecastStale), asked*tuning.ForecastRest*o.took))
		o.replace(counted)
	} else {
		o.again = time.Now().Add(tuning.CountStale)
	}
	close(o.filling)
	o.filling = nil
	return o.counted == nil || o.counted.empty() && len(o.recent) == 0
}

// replace stores a new count.
func (o *typeForecast) replace(counted *histogram) {
	counted.merge(o.counted, o.bookedSince(o.began.Add(-tuning.VisibilityLag)))
	o.counted = counted
}

// expect returns how late a counted timer will probably be.
func (o *typeForecast) expect(booked timer.View, rate float64) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := booked.DueAt
	if o.stale() || o.counted.slot(due) < 0 {
		return 0
	}
	if o.counted.unsplit(due, rate) {
		o.counted.split(due, o.bookedSince(time.Time{}))
	}
	backlog := forecast.Backlog{Rate: rate, Waiting: float64(o.counted.overdue), Now: o.counted.at}
	for _, slot := range o.counted.slots {
		if slot.End() > due {
			slot.Due = max(slot.Due, 1) // a moved timer is not counted in
			late, _ := backlog.Pass(slot)
			return late
		}
		backlog.Pass(slot)
	}
	return 0
}
