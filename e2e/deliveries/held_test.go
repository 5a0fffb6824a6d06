package deliveries

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// tooLate is a due time that no test waits for, and a timer of this preload may
// be held for that long.
const tooLate = "30s"

// bookHeld books timers until a worker holds one of them, for many seconds yet.
func bookHeld(t *testing.T, env *testenv.Env, kind, url string) (id string) {
	t.Helper()
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url}, "preload": "1m"})
	for n := range 20 {
		id = "held-" + strconv.Itoa(n)
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": tooLate, "payload": testenv.JSON{"n": 1}})
		if wakesNow(t, env, kind+"/"+id) {
			awaitHeld(t, env, kind+"/"+id)
			return id
		}
		require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/"+id, nil).Status)
	}
	t.Fatal("wake-ups should be spread over the preload")
	return ""
}

// wakesNow is whether a timer began without a start delay.
func wakesNow(t *testing.T, env *testenv.Env, path string) bool {
	described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
	require.NoError(t, err)
	info := described.GetWorkflowExecutionInfo()
	return info.GetExecutionTime().AsTime().Sub(info.GetStartTime().AsTime()) < 100*time.Millisecond
}

func awaitHeld(t *testing.T, env *testenv.Env, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
		return err == nil && described.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
	}, testenv.Patience, 10*time.Millisecond, "a worker should hold %s", path)
}

// A change of a timer that a worker holds takes effect at once, and not only
// when the timer is about to ring.
func TestChangedWhileHeld(t *testing.T) { // it needs the machine for itself
	for name, c := range map[string]struct {
		method, path string
		body         testenv.JSON
		rings        bool
	}{
		"cancelled":      {"DELETE", "", nil, false},
		"moved later":    {"PATCH", "", testenv.JSON{"delay": "1h"}, false},
		"moved earlier":  {"PATCH", "", testenv.JSON{"delay": "100ms", "payload": testenv.JSON{"n": 2}}, true},
		"replaced":       {"PUT", "", testenv.JSON{"delay": "100ms", "payload": testenv.JSON{"n": 2}}, true},
		"rung by a call": {"POST", "/fire", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, r, kind := testenv.Start(t)
			id := bookHeld(t, env, kind, r.URL)
			require.Equal(t, "scheduled", env.Get(kind+"/"+id).Status)
			reply := env.Do(c.method, "/v1/timers/"+kind+"/"+id+c.path, body(c.body))
			require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
			if !c.rings {
				require.Empty(t, r.Calls(id))
				return
			}
			call := r.Await(t, id, 1)[0]
			require.False(t, call.At.Before(reply.Timer().DueAt))
			require.Equal(t, "2", call.Header.Get("Wakecall-Revision"))
			if c.body != nil {
				require.JSONEq(t, `{"n":2}`, string(call.Body))
			}
			env.Await(kind+"/"+id, "delivered")
			require.Len(t, r.Calls(id), 1)
		})
	}
}

func body(fields testenv.JSON) any {
	if fields == nil {
		return nil
	}
	return fields
}

// Of a cancel and a change, the cancel counts, in whatever order they come.
func TestChangedAndCancelledWhileHeld(t *testing.T) { // it needs the machine for itself
	env, r, kind := testenv.Start(t)
	id := bookHeld(t, env, kind, r.URL)
	path := "/v1/timers/" + kind + "/" + id
	require.Equal(t, http.StatusAccepted, env.Do("PATCH", path+"?wait=0s", testenv.JSON{"delay": "1h"}).Status)
	require.Equal(t, http.StatusOK, env.Do("DELETE", path, nil).Status)
	require.Equal(t, "cancelled", env.Get(kind+"/"+id).Status)

	id = bookHeld(t, env, kind+".2", r.URL)
	require.NoError(t, env.Client.CancelWorkflow(t.Context(), kind+".2/"+id, ""))
	require.Equal(t, http.StatusConflict, env.Do("PATCH", "/v1/timers/"+kind+".2/"+id, testenv.JSON{"delay": "100ms"}).Status)
	env.Await(kind+".2/"+id, "cancelled")
	require.Empty(t, r.All())
}

// Whoever ends the workflow of a held timer, and by whatever means, it does not
// ring: the worker looks before it rings.
func TestEndedWhileHeld(t *testing.T) { // it needs the machine for itself
	env, r, kind := testenv.Start(t)
	for _, id := range []string{"cancelled", "terminated", "rings"} {
		env.Add(sample.Booking(kind, id, "2s", r.URL))
		awaitHeld(t, env, kind+"/"+id)
	}
	require.NoError(t, env.Client.CancelWorkflow(t.Context(), kind+"/cancelled", ""))
	require.NoError(t, env.Client.TerminateWorkflow(t.Context(), kind+"/terminated", "", "test"))
	r.Await(t, "rings", 1)
	env.Await(kind+"/rings", "delivered")
	env.Await(kind+"/cancelled", "cancelled")
	env.Await(kind+"/terminated", "cancelled")
	require.Len(t, r.All(), 1)
}

// A worker that stops hands what it holds to another one, which rings it in time
// and once.
func TestHandedBack(t *testing.T) { // it needs the machine for itself
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	leaves, stays := testenv.Open(t, addr), testenv.Open(t, addr)
	r, kind := receiver.New(t), sample.Type(t)
	leaves.StartWorker()
	const timers = 50
	leaves.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "preload": "20s"})
	due := wire.At(time.Now().Add(15 * time.Second)).String()
	for n := range timers {
		leaves.Add(testenv.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "due_at": due})
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Greater(c, metric(t, leaves, "wakecall_preloaded_timers"), timers/2.0)
	}, testenv.Patience, 10*time.Millisecond, "most of them wake at once")
	stays.StartWorker()
	leaves.StopWorker()
	require.Greater(t, metric(t, leaves, `wakecall_released_total{reason="handed_back"}`), timers/2.0)
	r.AwaitAll(t, timers)
	inTime := 0
	for _, call := range r.All() {
		if call.At.Sub(mustTime(t, call.Header.Get("Wakecall-Due-At"))) < taskTimeout {
			inTime++
		}
	}
	require.Greater(t, inTime, timers*3/4, "a starved Temporal loses some tasks until they time out")
	for n := range timers {
		require.Equal(t, 1, stays.Await(kind+"/"+fmt.Sprint(n), "delivered").Attempts)
	}
	require.Len(t, r.All(), timers)
}

// taskTimeout is less than what a task that was lost makes a timer of this
// preload late by.
const taskTimeout = 15 * time.Second

func mustTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

// metric is the value of one time series, 0 where there is none.
func metric(t *testing.T, env *testenv.Env, series string) (value float64) {
	t.Helper()
	for line := range strings.Lines(string(env.Do("GET", "/metrics", nil).Body)) {
		if text, ok := strings.CutPrefix(line, series+" "); ok {
			var err error
			value, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
			require.NoError(t, err)
		}
	}
	return value
}
