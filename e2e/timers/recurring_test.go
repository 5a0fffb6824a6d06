package timers

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// recurring is what the API shows of a recurring timer beside the rest.
type recurring struct {
	Status         string
	DueAt          time.Time `json:"due_at"`
	Occurrence     int
	Note           string
	Revision       int
	LastOccurrence *occurrence `json:"last_occurrence"`
}

type occurrence struct {
	Occurrence int
	DueAt      time.Time `json:"due_at"`
	Status     string
	Attempts   int
	Skipped    int
	WebhookID  string `json:"webhook_id"`
	LatenessMS *int64 `json:"lateness_ms"`
}

func show(env *testenv.Env, path string) (r recurring) {
	env.Do("GET", "/v1/timers/"+path, nil).Into(&r)
	return r
}

func occurrences(t *testing.T, env *testenv.Env, path string) (past []occurrence) {
	t.Helper()
	token := ""
	for {
		var page struct {
			Occurrences   []occurrence
			NextPageToken string `json:"next_page_token"`
		}
		reply := env.Do("GET", "/v1/timers/"+path+"/occurrences?page_size=3&page_token="+token, nil)
		require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
		reply.Into(&page)
		past = append(past, page.Occurrences...)
		if token = page.NextPageToken; token == "" {
			return past
		}
	}
}

// dueTimes are the nominal times that a receiver was told, in order of arrival.
func dueTimes(calls []receiver.Call) (times []time.Time) {
	for _, call := range calls {
		at, _ := time.Parse(time.RFC3339, call.Header.Get("Wakecall-Due-At"))
		times = append(times, at)
	}
	return times
}

func TestRingsAgainAndAgain(t *testing.T) { // it needs the machine for itself
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	booked := env.Do("POST", "/v1/timers", sample.Repeating(kind, "1", testenv.JSON{"every": "1s", "max_occurrences": 4}))
	require.Equal(t, http.StatusCreated, booked.Status, "%s", booked.Body)
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers", sample.Repeating(kind, "1", testenv.JSON{"every": "1s", "max_occurrences": 4})).Status,
		"the same booking again")
	calls := r.Await(t, "1", 4)
	env.Await(kind+"/1", "delivered")
	require.Equal(t, []string{"1", "2", "3", "4"}, receiver.Headers(calls, "Wakecall-Occurrence"))
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(receiver.Headers(calls, "webhook-id")))), 4, "each is a delivery of its own")
	for i, due := range dueTimes(calls) {
		require.Equal(t, dueTimes(calls)[0].Add(time.Duration(i)*time.Second), due, "a fixed rate does not drift")
		require.False(t, calls[i].At.Before(due))
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		past := occurrences(t, env, kind+"/1")
		require.Len(c, past, 4)
		for i, o := range past {
			assert.Equal(c, 4-i, o.Occurrence, "newest first")
			assert.Equal(c, "delivered", o.Status)
			assert.Equal(c, 1, o.Attempts)
			assert.NotNil(c, o.LatenessMS)
			assert.Equal(c, calls[3-i].Header.Get("webhook-id"), o.WebhookID)
		}
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	require.Equal(t, [][2]int64{{3, 6}, {3, 6}, {3, 6}, {3, 6}}, runsOf(t, env, kind+"/1"),
		"state transitions and events of each: none of them was cold, as a worker held it from the one before")
	require.Equal(t, http.StatusConflict, env.Do("POST", "/v1/timers", sample.Repeating(kind, "1", testenv.JSON{"every": "1s"})).Status)
}

// runsOf lists all runs of a workflow, by state transitions and events.
func runsOf(t *testing.T, env *testenv.Env, id string) (costs [][2]int64) {
	response, err := env.Client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowId = '%s' AND ExecutionStatus != 'Running'", id), PageSize: 1000,
	})
	require.NoError(t, err)
	for _, info := range response.GetExecutions() {
		costs = append(costs, [2]int64{info.GetStateTransitionCount(), info.GetHistoryLength()})
	}
	return costs
}

// The cost of an occurrence, from Temporal's own counters, does not grow with
// their number. All of them were missed, to be done soon.
func TestCostOfAnOccurrence(t *testing.T) { // it needs the machine for itself
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	const chain = 100
	most := chain
	spec, err := timer.Admit(wire.Key{BusinessType: kind, BusinessID: "1"}, timer.Terms{Recurrence: &recurrence.Rule{
		Every: new(wire.Duration(time.Hour)), MaxOccurrences: &most, Missed: recurrence.MissedFireAll,
	}}, "booking", time.Now().Add(-chain*time.Hour))
	require.NoError(t, err)
	spec.Behaviour = workflows.BehaviourNow
	env.Start(spec)
	calls := r.Await(t, "1", chain)
	env.Await(kind+"/1", "delivered")
	require.True(t, slices.IsSortedFunc(dueTimes(calls), time.Time.Compare))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		costs := runsOf(t, env, kind+"/1")
		require.Len(c, costs, chain)
		for _, cost := range costs {
			assert.LessOrEqual(c, cost[0], int64(4), "one less where an occurrence is due at once")
			assert.Equal(c, int64(6), cost[1])
		}
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
}

func TestPausedAndResumed(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	path := "/v1/timers/" + kind + "/1"
	env.Add(sample.Repeating(kind, "1", testenv.JSON{"every": "1s", "paused": true}))
	require.Equal(t, "paused", show(env, kind+"/1").Status, "created, and not yet activated")
	require.Equal(t, `{"upcoming":[],"empty_because":"paused"}`, string(trimmed(env.Do("GET", path+"/upcoming", nil).Body)))
	resumed := env.Do("POST", path+"/resume?wait=30s", testenv.JSON{"note": "let it ring"})
	require.Equal(t, http.StatusOK, resumed.Status, "%s", resumed.Body)
	require.Contains(t, string(resumed.Body), `"note":"let it ring"`) // the next occurrence has none
	require.NotContains(t, string(resumed.Body), `"paused":true`, "its rule does not say that it is paused")
	r.Await(t, "1", 1)
	require.Equal(t, http.StatusOK, env.Do("POST", path+"/pause?wait=30s", testenv.JSON{"note": "stock-taking"}).Status)
	stopped := show(env, kind+"/1")
	require.Equal(t, "paused", stopped.Status)
	require.Equal(t, "stock-taking", stopped.Note)
	require.Equal(t, `{"upcoming":[],"empty_because":"paused","note":"stock-taking"}`, string(trimmed(env.Do("GET", path+"/upcoming", nil).Body)))
	require.Equal(t, http.StatusOK, env.Do("POST", path+"/pause?wait=30s", nil).Status, "so already")
	require.Equal(t, stopped.Revision, show(env, kind+"/1").Revision)
	rung := len(r.Calls("1"))
	require.Equal(t, http.StatusOK, env.Do("POST", path+"/resume?wait=30s", nil).Status)
	require.Equal(t, strconv.Itoa(rung+1), r.Await(t, "1", rung+1)[rung].Header.Get("Wakecall-Occurrence"))
	require.Equal(t, http.StatusOK, env.Do("DELETE", path+"?wait=30s", nil).Status)
	require.Equal(t, http.StatusConflict, env.Do("POST", path+"/resume", nil).Status)
	require.Equal(t, `{"upcoming":[],"empty_because":"finished"}`, string(trimmed(env.Do("GET", path+"/upcoming", nil).Body)))

	require.Equal(t, http.StatusUnprocessableEntity, env.Do("POST", path+"/pause", testenv.JSON{"note": 7}).Status)
	require.Equal(t, http.StatusNotFound, env.Do("POST", "/v1/timers/"+kind+"/none/pause", nil).Status)
}

func trimmed(body []byte) []byte { return []byte(string(body[:len(body)-1])) }
