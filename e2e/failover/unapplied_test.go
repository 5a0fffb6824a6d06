package failover

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A worker dies with the task of a change of a timer that no worker held. Another worker applies the change
// soon, and not only once the task has timed out, which takes two minutes here.
func TestAChangeWhoseWorkerDies(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		addr := testenv.Alone(t)
		_, die := startDying(t, addr)
		env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "preload": "1m"})
		changes := map[string]struct {
			method, path string
			body         testenv.JSON
			rings        int
			status       string
		}{
			"fired":         {"POST", "/fire", nil, 1, "delivered"},
			"moved-earlier": {"PATCH", "", testenv.JSON{"delay": "100ms"}, 1, "delivered"},
			"booked-anew":   {"PUT", "", testenv.JSON{"delay": "100ms"}, 1, "delivered"},
			"paused":        {"POST", "/pause", nil, 0, "paused"},
			"cancelled":     {"DELETE", "", nil, 0, "cancelled"},
		}
		runs := map[string]string{}
		for id, change := range changes {
			runs[id] = env.Add(sample.Booking(kind, id, "1h", r.URL)).RunID
			reply := env.Do(change.method, "/v1/timers/"+kind+"/"+id+change.path+"?wait=0s", change.body)
			require.Equal(t, http.StatusAccepted, reply.Status, "%s: %s", id, reply.Body)
			require.Eventually(t, func() bool { return env.WithWorker(kind + "/" + id) }, testenv.Patience, testenv.Interval, id)
		}
		die()
		testenv.Open(t, addr).StartWorker()
		for id, run := range runs {
			env.Await(kind+"/"+id, changes[id].status)
			events := env.Events(kind+"/"+id, run)
			require.Contains(t, events, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, id)
			require.NotContains(t, events, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, id)
		}
		for id, change := range changes {
			require.Len(t, r.Calls(id), change.rings, id)
		}
	})
}
