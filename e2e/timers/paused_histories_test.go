package timers

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// TestRecordHistoriesOfPauses records one-shot timers that are paused: one that is resumed,
// one whose latest time passes, and one whose retry the pause calls off.
func TestRecordHistoriesOfPauses(t *testing.T) {
	testenv.OnlyToRecord(t)
	env, r, kind := testenv.Start(t)
	rec := testenv.Recorder{T: t, H: env}
	call := func(id, verb string) {
		reply := env.Do("POST", "/v1/timers/"+kind+"/"+id+"/"+verb+"?wait=20s", nil)
		require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
	}
	body := sample.Booking(kind, "paused-once", "200ms", r.URL)
	body["paused"] = true
	first := env.Add(body)
	call("paused-once", "resume")
	rec.Run("paused-once-resumed", kind+"/paused-once", first.RunID)
	rec.Finished(kind, "paused-once", "delivered")

	body = sample.Booking(kind, "paused-expired", "200ms", r.URL)
	body["paused"], body["expires_after"] = true, "300ms"
	env.Add(body)
	rec.Finished(kind, "paused-expired", "expired")

	body = sample.Booking(kind, "paused-retry", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"1h"}}
	first = env.Add(body)
	r.Await(t, "paused-retry", 1)
	env.Await(kind+"/paused-retry", "delivering")
	call("paused-retry", "pause")
	rec.Run("paused-retry-away", kind+"/paused-retry", first.RunID)
	call("paused-retry", "resume")
	rec.Finished(kind, "paused-retry", "delivered")
}
