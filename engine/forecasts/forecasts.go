package forecasts

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/dispatches"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/internal/questions"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Forecasts returns how many timers of a business type fall due in the time ahead. They are
// counted in visibility, minute by minute, in the background, and kept in memory. A booking
// uses the known counts and waits for nothing.
type Forecasts struct {
	kernel      *kernel.Kernel
	policies    *policies.Policies
	emergencies Emergencies
	dispatches  *dispatches.Dispatches
	// turn allows one count at a time.
	turn chan struct{}

	mu    sync.Mutex
	types map[string]*typeForecast
}

// Emergencies tells which emergency holds the callbacks of a business type back; nil for none.
type Emergencies interface {
	Holding(ctx context.Context, businessType string) (*policy.Emergency, error)
	// LastRead is the one that was read lately. It makes no call.
	LastRead(businessType string) *policy.Emergency
}

// New returns the forecasts of a namespace.
func New(
	k *kernel.Kernel, policies *policies.Policies, emergencies Emergencies, dispatches *dispatches.Dispatches,
) *Forecasts {
	return &Forecasts{
		kernel: k, policies: policies, emergencies: emergencies, dispatches: dispatches,
		turn: make(chan struct{}, 1), types: map[string]*typeForecast{},
	}
}

// Request asks for a forecast. From and To are multiples of Step.
type Request struct {
	BusinessType string
	From, To     wire.Instant
	Step         time.Duration
}

// Forecast returns the known counts. They are a few seconds old, or a few minutes at most if
// a count takes long. It waits for a count if nothing is known yet, or if the time is
// further ahead than is kept. The error is [wire.Unavailable].
func (f *Forecasts) Forecast(ctx context.Context, r Request) (forecast.Forecast, error) {
	forecast := forecast.Forecast{BusinessType: r.BusinessType, Step: wire.Duration(r.Step)}
	current, err := f.policies.Cached(ctx, r.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return forecast, err
	}
	held, err := f.emergencies.Holding(ctx, r.BusinessType)
	if err != nil {
		return forecast, err
	}
	forecast.CallbacksPerSecond = policy.Holds{Policy: current, Emergency: held}.Rate(time.Now())
	entry := f.entryFor(r.BusinessType)
	var filling <-chan struct{}
	if !questions.InBackground(ctx) || !entry.serves() { // else the rounds of [Forecasts.Run] are enough
		entry.markAsked(time.Now())
		filling = f.refresh(entry, limitOf(current))
	}
	counted, err := entry.await(ctx, filling)
	if err == nil && !counted.covers(r) {
		counted, err = f.countOn(ctx, r, limitOf(current), counted)
	}
	if err != nil {
		return forecast, err
	}
	forecast.CountedAt, forecast.Overdue = counted.at, counted.overdue
	if counted.uncounted < r.To {
		forecast.UncountedFrom = counted.uncounted
	}
	forecast.Divide(counted.slots, r.From, r.To)
	return forecast, nil
}

// countOn counts what the known counts do not have. What waits where the request begins is known by what falls due
// before.
func (f *Forecasts) countOn(ctx context.Context, r Request, limit float64, known *histogram) (*histogram, error) {
	asked, err := f.countAhead(ctx, r, limit, nil)
	if err != nil || limit == 0 || r.From <= asked.at { // that has what is overdue itself
		return asked, err
	}
	if gap := known.gap(r.From); gap.From < gap.To {
		gap.BusinessType = r.BusinessType
		between, err := f.countAhead(ctx, gap, limit, nil)
		if err != nil {
			return nil, err
		}
		known = known.followedBy(between)
	}
	return known.followedBy(asked), nil
}

// limitOf is the rate of a policy, whether in force or held back; 0 for none.
func limitOf(policy policy.Policy) float64 {
	if policy.Limits.CallbacksPerSecond == nil {
		return 0
	}
	return *policy.Limits.CallbacksPerSecond
}

// Expect returns how late a booked or moved timer will probably be. It adds a booked timer
// to the counts. It makes no call: if too little is known it returns 0, and begins a count
// for later calls.
func (f *Forecasts) Expect(booked timer.View) time.Duration {
	now := time.Now()
	holds := policy.Holds{
		Policy: f.policies.LastRead(booked.BusinessType), Emergency: f.emergencies.LastRead(booked.BusinessType),
	}
	entry := f.entryFor(booked.BusinessType)
	entry.countIn(booked)
	rate := holds.Rate(now)
	if rate == nil || *rate == 0 {
		return 0
	}
	late := entry.expect(booked, *rate)
	entry.markAsked(now)
	f.refresh(entry, *rate) // the count finds it
	return late
}

func (f *Forecasts) entryFor(businessType string) *typeForecast {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.types) >= tuning.CachedPolicies {
		clear(f.types)
	}
	if f.types[businessType] == nil {
		f.types[businessType] = &typeForecast{businessType: businessType}
	}
	return f.types[businessType]
}

// countAsked is the number of types that were requested or booked since a moment; at least one.
func (f *Forecasts) countAsked(since time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var n time.Duration
	for _, entry := range f.types {
		if entry.askedSince(since) {
			n++
		}
	}
	return max(n, 1)
}

// refresh begins a count, unless the last one is fresh or one is under way. It returns a
// channel for the count's end; nil if there is none to wait for.
func (f *Forecasts) refresh(entry *typeForecast, limit float64) <-chan struct{} {
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if entry.filling != nil || time.Now().Before(entry.again) {
		return entry.filling
	}
	entry.filling, entry.began = make(chan struct{}), time.Now()
	go f.fill(entry, limit)
	return entry.filling
}

// fill counts the whole time that is kept.
func (f *Forecasts) fill(entry *typeForecast, limit float64) {
	ctx, cancel := context.WithTimeout(f.kernel.Leaving, tuning.ForecastTimeout)
	defer cancel()
	began := time.Now()
	from := wire.At(began.Truncate(forecast.DefaultStep))
	counted, err := f.countAhead(ctx, Request{
		BusinessType: entry.businessType, From: from, To: from.Add(tuning.ForecastKept), Step: forecast.DefaultStep,
	}, limit, entry.last())
	asked := f.countAsked(began.Add(-tuning.ForecastAsked))
	if !entry.end(counted, err, asked) {
		return
	}
	if _, err := f.policies.Cached(ctx, entry.businessType); wire.CodeOf(err) == wire.NotFound {
		f.forget(entry)
	}
}

// forget drops the counts of a business type: types that callers make up are not kept.
func (f *Forecasts) forget(entry *typeForecast) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.types[entry.businessType] == entry {
		delete(f.types, entry.businessType)
	}
}
