package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// TestRecordHistoriesOfPauses records one-shot timers that are paused: one that is resumed,
// one whose latest time passes, and one whose retry the pause calls off.
func TestRecordHistoriesOfPauses(t *testing.T) {
	onlyToRecord(t)
	env, r, kind := open(t)
	rec := recorder{t: t, h: env}
	call := func(id, verb string) {
		reply := env.Do("POST", "/v1/timers/"+kind+"/"+id+"/"+verb+"?wait=20s", nil)
		require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
	}
	body := booking(kind, "paused-once", "200ms", r.URL)
	body["paused"] = true
	first := env.Add(body)
	call("paused-once", "resume")
	rec.run("paused-once-resumed", kind+"/paused-once", first.RunID)
	rec.finished(kind, "paused-once", "delivered")

	body = booking(kind, "paused-expired", "200ms", r.URL)
	body["paused"], body["expires_after"] = true, "300ms"
	env.Add(body)
	rec.finished(kind, "paused-expired", "expired")

	body = booking(kind, "paused-retry", "0s", r.On("/once", receiver.FailFirst(1)))
	body["retry"] = testenv.JSON{"steps": []string{"1h"}}
	first = env.Add(body)
	r.Await(t, "paused-retry", 1)
	env.Await(kind+"/paused-retry", "delivering")
	call("paused-retry", "pause")
	rec.run("paused-retry-away", kind+"/paused-retry", first.RunID)
	call("paused-retry", "resume")
	rec.finished(kind, "paused-retry", "delivered")
}
