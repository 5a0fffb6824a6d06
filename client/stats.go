package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Stats counts the timers of a business type by status. If businessType is "", it counts all
// timers, and those of each type with a policy.
func (t Timers) Stats(ctx context.Context, businessType string) (stats timer.Stats, err error) {
	query := url.Values{}
	if businessType != "" {
		query.Set("business_type", businessType)
	}
	_, err = t.caller.do(ctx, call{method: http.MethodGet, path: "/v1/stats", query: query}, &stats)
	return stats, err
}

// ObjectivesOptions selects reports of how punctual timers were. The zero value selects all
// business types, 30 days, and a target of 99.9 %.
type ObjectivesOptions struct {
	BusinessType string
	// Window is how far to look back, from an hour to 30 days.
	Window time.Duration
	// Target is the share of timers that are to ring on time, above 0 and below 1.
	Target float64
}

// Objectives are the reports of business types, by name.
type Objectives struct {
	// RecordedAt is when a process last handed over counts of these types, or of those that are
	// stored together with them.
	RecordedAt    wire.Instant `json:"recorded_at,omitzero"`
	BusinessTypes []slo.Report `json:"business_types"`
}

// Objectives returns how punctual timers were, beside what their policies promise.
func (t Timers) Objectives(ctx context.Context, options ObjectivesOptions) (objectives Objectives, err error) {
	query := url.Values{}
	if options.BusinessType != "" {
		query.Set("business_type", options.BusinessType)
	}
	if options.Window != 0 {
		query.Set("window", wire.Duration(options.Window).String())
	}
	if options.Target != 0 {
		query.Set("target", strconv.FormatFloat(options.Target, 'g', -1, 64))
	}
	_, err = t.caller.do(ctx, call{method: http.MethodGet, path: "/v1/slo", query: query}, &objectives)
	return objectives, err
}

// OutcomesOptions selects the time of outcomes. The zero value selects all business types, and the
// minutes of the last hour.
type OutcomesOptions struct {
	BusinessType string
	From, To     time.Time
	Step         time.Duration
}

// Outcomes returns how timers ended and how late they rang, in each step of the time past.
func (t Timers) Outcomes(ctx context.Context, options OutcomesOptions) (ended outcomes.Outcomes, err error) {
	query := url.Values{}
	if options.BusinessType != "" {
		query.Set("business_type", options.BusinessType)
	}
	addSteps(query, options.From, options.To, options.Step)
	_, err = t.caller.do(ctx, call{method: http.MethodGet, path: "/v1/outcomes", query: query}, &ended)
	return ended, err
}

// addSteps adds the time and the steps that are asked for.
func addSteps(query url.Values, from, to time.Time, step time.Duration) {
	for name, at := range map[string]time.Time{"from": from, "to": to} {
		if !at.IsZero() {
			query.Set(name, wire.At(at).String())
		}
	}
	if step != 0 {
		query.Set("step", wire.Duration(step).String())
	}
}

// ForecastOptions selects the time of a forecast. The zero value selects the minutes of the next
// day.
type ForecastOptions struct {
	From, To time.Time
	Step     time.Duration
}

// Forecast returns how many timers of a business type fall due in each step of the time ahead,
// and how late its limit makes them.
func (t Timers) Forecast(ctx context.Context, businessType string, options ForecastOptions) (forecast forecast.Forecast, err error) {
	query := url.Values{"business_type": {businessType}}
	addSteps(query, options.From, options.To, options.Step)
	_, err = t.caller.do(ctx, call{method: http.MethodGet, path: "/v1/forecast", query: query}, &forecast)
	return forecast, err
}
