package engine

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// Forecasts tell how many timers of a business type fall due in the time ahead. They are
// counted in visibility, minute by minute, in the background, and kept in memory: a
// booking asks what is known, and waits for nothing.
type Forecasts struct {
	*kernel
	policies   *Policies
	dispatches *Dispatches
	// turn lets one count be under way.
	turn chan struct{}

	mu    sync.Mutex
	types map[string]*forecastOf
}

func newForecasts(policies *Policies, dispatches *Dispatches) *Forecasts {
	return &Forecasts{kernel: policies.kernel, policies: policies, dispatches: dispatches, turn: make(chan struct{}, 1), types: map[string]*forecastOf{}}
}

// ForecastRequest asks for a forecast. From and To are multiples of Step.
type ForecastRequest struct {
	BusinessType string
	From, To     timer.Instant
	Step         time.Duration
}

// Forecast returns what is known, which is a few seconds old, or up to a minute where a
// count takes long. Where nothing is known yet, or for a time that is further ahead than is
// kept, it waits for the count. Its error is [timer.Unavailable].
func (f *Forecasts) Forecast(ctx context.Context, r ForecastRequest) (timer.Forecast, error) {
	forecast := timer.Forecast{BusinessType: r.BusinessType, Step: timer.Duration(r.Step)}
	policy, err := f.policies.cached(ctx, r.BusinessType)
	if err != nil && timer.CodeOf(err) != timer.NotFound {
		return forecast, err
	}
	forecast.CallbacksPerSecond = policy.Rate(time.Now())
	of := f.of(r.BusinessType)
	counted, err := of.await(ctx, f.refresh(of, limitOf(policy)))
	if err == nil && !counted.covers(r) {
		counted, err = f.countAhead(ctx, r, limitOf(policy))
	}
	if err != nil {
		return forecast, err
	}
	forecast.CountedAt, forecast.Overdue = counted.at, counted.overdue
	forecast.Divide(counted.slots, r.From, r.To)
	return forecast, nil
}

// limitOf is the rate of a policy, whether it is in force now or held back; 0 for none.
func limitOf(policy timer.Policy) float64 {
	if policy.Limits.CallbacksPerSecond == nil {
		return 0
	}
	return *policy.Limits.CallbacksPerSecond
}

// Expect returns how late a timer will probably be that was booked or moved, and counts it
// in that was booked. It asks nobody: where too little is known it returns 0, and has it
// counted for those that follow.
func (f *Forecasts) Expect(booked timer.View) time.Duration {
	entry, _ := f.policies.cache.entry(booked.BusinessType) // a moment ago it was read
	rate := entry.policy.Rate(time.Now())
	if rate == nil || *rate == 0 {
		return 0
	}
	of := f.of(booked.BusinessType)
	late := of.expect(booked, *rate)
	f.refresh(of, *rate) // which finds it
	return late
}

func (f *Forecasts) of(businessType string) *forecastOf {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.types) >= tuning.CachedPolicies {
		clear(f.types)
	}
	if f.types[businessType] == nil {
		f.types[businessType] = &forecastOf{businessType: businessType}
	}
	return f.types[businessType]
}

// refresh begins a count, unless the last one is fresh or one is under way, and returns
// what tells of its end; nil where there is none to wait for.
func (f *Forecasts) refresh(of *forecastOf, limit float64) <-chan struct{} {
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.filling != nil || time.Now().Before(of.again) {
		return of.filling
	}
	of.filling, of.next = make(chan struct{}), nil
	go f.fill(of, limit)
	return of.filling
}

// fill counts the time that is kept.
func (f *Forecasts) fill(of *forecastOf, limit float64) {
	ctx, cancel := context.WithTimeout(f.leaving, tuning.ForecastTimeout)
	defer cancel()
	began := time.Now()
	from := timer.At(began.Truncate(timer.DefaultForecastStep))
	f.mu.Lock()
	types := time.Duration(len(f.types))
	f.mu.Unlock()
	counted, err := f.countAhead(ctx, ForecastRequest{
		BusinessType: of.businessType, From: from, To: from.Add(tuning.ForecastKept), Step: timer.DefaultForecastStep,
	}, limit)
	of.mu.Lock()
	defer of.mu.Unlock()
	of.took, of.err = time.Since(began), err
	of.again = time.Now().Add(max(tuning.ForecastFresh, tuning.ForecastRest*types*of.took))
	if err == nil {
		of.counted = counted
		for _, due := range of.next {
			of.counted.add(due)
		}
	} else {
		of.again = time.Now().Add(tuning.CountStale)
	}
	close(of.filling)
	of.filling = nil
}

// forecastOf is what is known of one business type.
type forecastOf struct {
	businessType string

	mu      sync.Mutex
	counted *histogram    // nil before the first count
	took    time.Duration // the last count
	err     error         // of the last count
	filling chan struct{}
	again   time.Time
	// next are the due times that were booked here since the count under way began.
	next []timer.Instant
}

// await returns what was counted. It waits for the count that is under way where nothing is
// known, where that is too old, and where it will not take long.
func (o *forecastOf) await(ctx context.Context, filling <-chan struct{}) (*histogram, error) {
	o.mu.Lock()
	waits := filling != nil && (o.stale() || o.took < tuning.ForecastQuick)
	o.mu.Unlock()
	if waits {
		select {
		case <-filling:
		case <-ctx.Done():
			return nil, translate(ctx.Err())
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil && o.stale() {
		return nil, o.err
	}
	return o.counted.clone(), nil
}

// stale is whether nothing is known that is of use: nobody asked or booked for a while.
func (o *forecastOf) stale() bool {
	return o.counted == nil || (time.Now().After(o.again) && time.Since(o.counted.at.Time()) > tuning.ForecastStale)
}

// expect returns how late a timer will probably be, and counts a new one in.
func (o *forecastOf) expect(booked timer.View, rate float64) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	due, added := booked.DueAt, booked.Revision <= 1
	if added && o.filling != nil && len(o.next) < tuning.ForecastBooked {
		o.next = append(o.next, due)
	}
	if o.stale() || o.counted.slot(due) < 0 {
		return 0
	}
	if added {
		o.counted.add(due)
	}
	backlog := timer.Backlog{Rate: rate, Waiting: float64(o.counted.overdue), Now: o.counted.at}
	for _, slot := range o.counted.slots {
		if late := backlog.Pass(slot); slot.End() > due {
			return late
		}
	}
	return 0
}

// histogram is how many timers fall due in slots that follow one another.
type histogram struct {
	at      timer.Instant
	overdue int
	slots   []timer.ForecastSlot
}

func (h *histogram) clone() *histogram {
	return &histogram{at: h.at, overdue: h.overdue, slots: append([]timer.ForecastSlot{}, h.slots...)}
}

// slot is the index of the slot of a moment; -1 where there is none.
func (h *histogram) slot(at timer.Instant) int {
	n := sort.Search(len(h.slots), func(n int) bool { return h.slots[n].End() > at })
	if n == len(h.slots) || at < h.slots[0].At {
		return -1
	}
	return n
}

// add counts one timer in, where there is a slot for it.
func (h *histogram) add(due timer.Instant) {
	if n := h.slot(due); n >= 0 {
		h.slots[n].Due++
	}
}

// covers is whether a request can be answered from the histogram.
func (h *histogram) covers(r ForecastRequest) bool {
	first, last := h.slots[0], h.slots[len(h.slots)-1]
	return r.From >= first.At && r.To <= last.End() && r.Step%timer.DefaultForecastStep == 0
}
