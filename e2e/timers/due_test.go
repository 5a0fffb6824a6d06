package timers

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A list finds a timer by the due time that GET shows, also where Temporal's
// execution time is another: past, paused, jittered, moved, or tried again.
func TestTimersAreFoundByTheirDueTime(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	book := func(id string, body testenv.JSON) {
		body["business_type"], body["business_id"] = kind, id
		body["callback"] = testenv.JSON{"url": r.On("/"+id, receiver.Status(410))}
		env.Add(body)
	}
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }
	book("past", testenv.JSON{"due_at": ago(time.Hour)})
	book("again", testenv.JSON{"due_at": ago(2 * time.Hour)})
	book("moved", testenv.JSON{"delay": "48h"})
	book("paused", testenv.JSON{"recurrence": testenv.JSON{"every": "24h", "paused": true}})
	book("stopped", testenv.JSON{"recurrence": testenv.JSON{"every": "72h"}})
	book("jittered", testenv.JSON{"recurrence": testenv.JSON{"every": "240h", "jitter": "24h"}})
	book("plain", testenv.JSON{"delay": "500h"})
	env.Await(kind+"/past", "failed")
	env.Await(kind+"/again", "failed")
	r.On("/again", receiver.Status(200))
	require.Equal(t, 200, env.Do("POST", "/v1/timers/"+kind+"/again/redeliver", nil).Status)
	env.Await(kind+"/again", "delivered")
	require.Equal(t, 200, env.Do("PATCH", "/v1/timers/"+kind+"/moved", testenv.JSON{"due_at": ago(3 * time.Hour)}).Status)
	env.Await(kind+"/moved", "failed")
	require.Equal(t, 200, env.Do("POST", "/v1/timers/"+kind+"/stopped/pause", nil).Status)
	for _, id := range []string{"past", "again", "moved", "paused", "stopped", "jittered", "plain"} {
		due := env.Get(kind + "/" + id).DueAt
		found := func(from, to time.Duration) (ids []string) {
			at := func(d time.Duration) string { return due.Add(d).Format(time.RFC3339Nano) }
			for _, timer := range testenv.Listed(env, url.Values{"business_type": {kind}, "due_from": {at(from)}, "due_to": {at(to)}}) {
				ids = append(ids, timer.BusinessID)
			}
			return ids
		}
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			shown := found(0, 0)
			assert.Contains(c, shown, id)
			assert.Subset(c, []string{id}, shown, "nobody else is due then")
		}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
		require.Empty(t, found(time.Millisecond, time.Minute), id)
		require.Empty(t, found(-time.Minute, -time.Millisecond), id)
	}
}

// The Web UI says of a timer what somebody who looks wants to know.
func TestSummaryInTheWebUI(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/hooks?token=secret"}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "policy", "due_at": "2030-12-01T09:30:00Z"})
	env.Add(sample.Booking(kind, "own", "1h", "http://127.0.0.1:29999/own?token=secret"))
	env.Add(testenv.JSON{"business_type": kind, "business_id": "paused", "recurrence": testenv.JSON{"every": "1h", "paused": true}})
	for id, want := range map[string]string{
		"policy": "due 2030-12-01T09:30:00.000Z, calls " + r.URL + "/hooks",
		"own":    "due " + env.Get(kind+"/own").DueAt.Format("2006-01-02T15:04:05.000Z") + ", calls http://127.0.0.1:29999/own",
		"paused": "paused, calls " + r.URL + "/hooks",
	} {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), kind+"/"+id, "")
		require.NoError(t, err)
		var summary string
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(
			described.GetExecutionConfig().GetUserMetadata().GetSummary(), &summary))
		require.Equal(t, want, summary)
		due := described.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()["DueAt"]
		var shown time.Time
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(due, &shown))
		require.True(t, env.Get(kind+"/"+id).DueAt.Equal(shown), "the column shows the due time, and not the lead")
	}
}
