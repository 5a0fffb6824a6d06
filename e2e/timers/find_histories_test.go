package timers

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// TestRecordHistoriesOfLabels records timers with labels: one whose labels are changed,
// until it is delivered, and a recurring one that hands them on.
func TestRecordHistoriesOfLabels(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	body := sample.Booking(kind, "labelled", "1h", r.URL)
	body["labels"] = timer.Labels{"customer": "42", "env": "test"}
	first := env.Add(body)
	relabelled := env.Do("PATCH", "/v1/timers/"+kind+"/labelled", testenv.JSON{"labels": timer.Labels{"env": "live"}})
	require.Equal(t, http.StatusOK, relabelled.Status, "%s", relabelled.Body)
	rec.Run("labelled-anew", kind+"/labelled", first.RunID)
	env.Do("POST", "/v1/timers/"+kind+"/labelled/fire", nil)
	rec.Finished(kind, "labelled", "delivered")

	recurring := sample.Repeating(kind, "labelled-recurring", testenv.JSON{"every": "1s", "max_occurrences": 2})
	recurring["labels"], recurring["callback"] = timer.Labels{"customer": "42"}, testenv.JSON{"url": r.URL}
	first = env.Add(recurring)
	rec.Finished(kind, "labelled-recurring", "delivered")
	rec.Run("labelled-recurring-goes-on", kind+"/labelled-recurring", first.RunID)
}
