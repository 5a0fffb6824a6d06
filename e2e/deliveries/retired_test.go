package deliveries

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// pollers counts the polls of the queues of types, which alone are scaled. Temporal's server
// runs in the same process and has workers of its own.
func pollers() int {
	buffer := make([]byte, 64<<20)
	return strings.Count(string(buffer[:runtime.Stack(buffer, true)]), "created by go.temporal.io/sdk/internal.(*baseWorker).runAutoscalingPoller")
}

// Types come and go. The queues of those that are gone are polled by no worker any more, be
// it one that has seen them or one that is started later; a timer that outlives its policy
// keeps its queue, and a policy that is put again gets it back.
func TestTypesThatAreGoneAreNotPolled(t *testing.T) { // not parallel: it counts goroutines
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	defer stop()
	envs := []*testenv.Env{testenv.Open(t, addr), testenv.Open(t, addr)}
	for _, env := range envs {
		env.StartWorker()
	}
	env, r, kind, before := envs[0], receiver.New(t), sample.Type(t), pollers()
	retried := r.On("/retried", receiver.FailFirst(1))
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL}}
	const types = 5
	for n := range types {
		env.Policy(kind+strconv.Itoa(n), policy)
	}
	rung := kind + "0"
	env.Add(testenv.JSON{"business_type": rung, "business_id": "1", "delay": "0s"})
	env.Await(rung+"/1", "delivered")
	kept := kind + "kept"
	env.Policy(kept, policy)
	late := sample.Booking(kept, "late", "0s", retried)
	late["retry"] = testenv.JSON{"steps": []string{"40s"}}
	env.Add(late)
	r.Await(t, "late", 1)
	require.Eventually(t, func() bool { return pollers() >= before+2*types }, testenv.Patience, 100*time.Millisecond, "each worker polls the queue of each type")
	for n := range types {
		require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+strconv.Itoa(n)+"?timers=cancel", nil).Status)
	}
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kept+"?timers=keep", nil).Status)
	env.Await(kept+"/late", "delivered")
	require.Len(t, r.Calls("late"), 2, "by the queue that it waited on")
	gone := func() bool { return pollers() <= before }
	require.Eventually(t, gone, testenv.Patience, 100*time.Millisecond, "no worker polls for what is gone: %d", before)

	envs[1].StopWorker()
	envs[1].StartWorker()
	require.Eventually(t, gone, testenv.Patience, 100*time.Millisecond, "nor one that is started later")

	policy["callback"] = testenv.JSON{"url": retried}
	policy["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Policy(rung, policy)
	env.Add(testenv.JSON{"business_type": rung, "business_id": "again", "delay": "0s"})
	env.Await(rung+"/again", "delivered")
	require.Len(t, r.Calls("again"), 2, "a retry is made on the queue of the type")
	require.Greater(t, pollers(), before)
}
