package watch

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/tuning"
)

// The report of the day knows the occurrences that failed, which no count of ended timers has.
func TestThePastHasTheReport(t *testing.T) {
	t.Parallel()
	now, away := time.Unix(100_000, 0), false
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := "{}"
		switch r.URL.Path {
		case "/v1/policies":
			answer = `{"policies":[{"business_type":"cycf"},{"business_type":"new"}]}`
		case "/v1/outcomes":
			answer = `{"steps":[{"counted":true,"failed":1}]}`
		case "/v1/slo":
			if answer = `{"business_types":[{"business_type":"cycf","failed":3,"share":0.5}]}`; away {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
		_, _ = fmt.Fprint(w, answer)
	})
	w := New(calls.Sender{API: api, Log: slog.New(slog.DiscardHandler)}, Pace{Wait: time.Minute}, func() time.Time { return now })
	first := w.look(w.Last())
	require.Equal(t, 3, first.Past["cycf"].Failed())
	require.InDelta(t, 0.5, *first.Past["cycf"].Recorded.Share, 0)
	require.Equal(t, &calls.Objective{}, first.Past["new"].Recorded, "what is not listed had nothing")
	require.Equal(t, 1, first.Past["new"].Failed())

	now, away = now.Add(tuning.LookPastEvery), true
	second := w.look(first)
	require.Nil(t, second.Past["cycf"].Recorded, "it is not known")
	require.Equal(t, 1, second.Past["cycf"].Failed())
	require.Equal(t, 3, first.Past["cycf"].Failed(), "the last picture stays as it is")
}
