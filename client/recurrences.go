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

// Upcoming returns the next nominal times of a recurring timer, or the reason why there is none.
func (t Timers) Upcoming(ctx context.Context, key wire.Key, count int) (answer timer.Upcoming, err error) {
	_, err = t.caller.do(ctx, call{
		method: http.MethodGet, path: pathOf(key) + "/upcoming", query: url.Values{"count": {strconv.Itoa(count)}},
	}, &answer)
	return answer, err
}

// Occurrences lists the ended occurrences of a recurring timer, newest first. It ends with the
// first error.
func (t Timers) Occurrences(ctx context.Context, key wire.Key) iter.Seq2[timer.Past, error] {
	return pagesOf[timer.Past](ctx, t.caller, call{path: pathOf(key) + "/occurrences"}, "occurrences")
}

// Trial is a rule to preview.
type Trial struct {
	Recurrence recurrence.Rule `json:"recurrence"`
	// From is the moment of the assumed booking; zero for now.
	From wire.Instant `json:"from,omitzero"`
	// Count is the number of times; 0 for the default.
	Count int `json:"count,omitzero"`
}

// Preview returns the next nominal times of a rule, or the reason why there is none. It books
// nothing.
func (t Timers) Preview(ctx context.Context, trial Trial) (answer timer.Upcoming, err error) {
	_, err = t.caller.do(ctx, call{method: http.MethodPost, path: "/v1/recurrences/preview", body: trial}, &answer)
	return answer, err
}
