package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/wakecall/wakecall/core/forecast"
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
	for name, at := range map[string]time.Time{"from": options.From, "to": options.To} {
		if !at.IsZero() {
			query.Set(name, wire.At(at).String())
		}
	}
	if options.Step != 0 {
		query.Set("step", wire.Duration(options.Step).String())
	}
	_, err = t.caller.do(ctx, call{method: http.MethodGet, path: "/v1/forecast", query: query}, &forecast)
	return forecast, err
}
