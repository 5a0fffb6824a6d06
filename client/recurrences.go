package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Upcoming returns the next nominal times of a recurring timer, or why there is none.
func (t Timers) Upcoming(ctx context.Context, key wire.Key, count int) (answer timer.Upcoming, err error) {
	_, err = t.caller.do(ctx, call{
		method: http.MethodGet, path: pathOf(key) + "/upcoming", query: url.Values{"count": {strconv.Itoa(count)}},
	}, &answer)
	return answer, err
}

// Occurrences lists the occurrences of a recurring timer that have ended, newest first. It
// ends with the first error.
func (t Timers) Occurrences(ctx context.Context, key wire.Key) iter.Seq2[timer.Past, error] {
	return pagesOf[timer.Past](ctx, t.caller, call{path: pathOf(key) + "/occurrences"}, "occurrences")
}

// Trial is a rule that is tried.
type Trial struct {
	Recurrence recurrence.Rule `json:"recurrence"`
	// From is the moment of the booking that is tried; zero for now.
	From wire.Instant `json:"from,omitzero"`
	// Count is how many times are asked for; 0 for the default.
	Count int `json:"count,omitzero"`
}

// Preview returns the next nominal times of a rule, or why there is none. Nothing is booked.
func (t Timers) Preview(ctx context.Context, trial Trial) (answer timer.Upcoming, err error) {
	_, err = t.caller.do(ctx, call{method: http.MethodPost, path: "/v1/recurrences/preview", body: trial}, &answer)
	return answer, err
}
