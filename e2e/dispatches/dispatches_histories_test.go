package dispatches

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// TestRecordHistoriesOfDispatches records dispatches and their shards.
func TestRecordHistoriesOfDispatches(t *testing.T) {
	testenv.OnlyToRecord(t)
	m := openDispatchTest(t)
	rec := testenv.Recorder{T: t, H: m.env}
	begin := func(id string, order testenv.JSON) wire.Key {
		order["business_type"], order["business_id"] = m.kind, id
		reply := m.env.Do("POST", "/v1/dispatches", order)
		require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
		return m.key(id)
	}
	record := func(name string, key wire.Key) {
		rec.Run("dispatch-"+name, workflows.DispatchWorkflowID(key), "")
	}
	shard := func(name string, view dispatch.View) {
		rec.Run("dispatch-shard-"+name, workflows.DispatchShardID(view.Memo.ID(), view.Memo.Round, 0), "")
	}
	engine := func(key wire.Key) dispatch.View {
		view, err := m.env.Engine.Dispatches.Get(t.Context(), key)
		require.NoError(t, err)
		return view
	}

	key := begin("done", testenv.JSON{"per_second": 100, "items": numbered(20)})
	m.ended("done")
	record("done", key)
	shard("done", engine(key))

	m.r.On("/failing", receiver.FailFirst(100)) // for each item: longer than its ladder
	key = begin("failures", testenv.JSON{
		"per_second": 500, "items": numbered(300), "callback": testenv.JSON{"url": m.r.URL + "/failing"}, "retry": testenv.JSON{"steps": []string{"7s"}},
	})
	m.ended("failures")
	record("failures", key)
	shard("ladder", engine(key)) // it waits longer than an executor does
	require.Equal(t, http.StatusAccepted, m.env.Do("POST", m.path("failures")+"/retry-failures", nil).Status)
	m.ended("failures")
	record("retried", key)

	key = begin("steered", testenv.JSON{"per_second": 50, "items": numbered(1000)})
	m.r.AwaitAll(t, 30)
	for _, verb := range []string{"pause", "resume"} {
		require.Equal(t, http.StatusOK, m.env.Do("POST", m.path("steered")+"/"+verb+"?wait=10s", nil).Status)
	}
	m.env.Do("PATCH", m.path("steered")+"?wait=10s", testenv.JSON{"per_second": 70})
	m.await("steered", func(v dispatch.View) bool { return v.Done > 100 })
	m.env.Do("DELETE", m.path("steered")+"?wait=10s", nil)
	m.ended("steered")
	record("cancelled", key)
	shard("cancelled", engine(key))
	shard("cancelled-counted", engine(key))

	loader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("shard") == "1" {
			_, _ = w.Write([]byte("rubbish"))
			return
		}
		_ = json.NewEncoder(w).Encode(testenv.JSON{"items": []testenv.JSON{{"id": "a"}, {"id": "b"}}})
	}))
	t.Cleanup(loader.Close)
	key = begin("loaded", testenv.JSON{"per_second": 100, "loader": testenv.JSON{"url": loader.URL, "shards": 4}})
	m.ended("loaded")
	record("loaded", key)
	shard("loaded", engine(key))

	first := begin("recurring", testenv.JSON{"per_second": 100, "items": numbered(5), "recurrence": testenv.JSON{"after": "1s", "max_occurrences": 2}})
	described, err := m.env.Client.DescribeWorkflowExecution(t.Context(), workflows.DispatchWorkflowID(first), "")
	require.NoError(t, err)
	run := described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	m.ended("recurring")
	rec.Run("dispatch-recurring", workflows.DispatchWorkflowID(first), run)

	key = begin("expired", testenv.JSON{"per_second": 10, "items": numbered(500), "latest_at": time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339Nano)})
	m.ended("expired")
	record("expired", key)

	key = begin("uploaded", testenv.JSON{"per_second": 500, "upload": true})
	_, err = m.live.Upload(t.Context(), key, 0, func(yield func(dispatch.Item, error) bool) {
		for _, item := range numbered(1200) {
			if !yield(item, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	m.ended("uploaded")
	record("uploaded", key)

	limit := testenv.JSON{"callback": testenv.JSON{"url": m.r.URL}, "limits": testenv.JSON{"callbacks_per_second": 200}}
	m.env.Policy(m.kind, limit)
	key = begin("limited", testenv.JSON{"per_second": 100, "items": numbered(100)})
	m.ended("limited")
	record("limited", key)
	rec.Run("policy-claimed", workflows.PolicyID(m.kind), "")
}

// TestRecordHistoriesOfDispatchesThatEndPaused records a rule that is over when it is resumed.
func TestRecordHistoriesOfDispatchesThatEndPaused(t *testing.T) {
	testenv.OnlyToRecord(t)
	m := openDispatchTest(t)
	until := time.Now().Add(4 * time.Second)
	order := testenv.JSON{
		"business_type": m.kind, "business_id": "over", "per_second": 100, "items": numbered(5),
		"recurrence": testenv.JSON{"every": "3s", "end_at": until.UTC().Format(time.RFC3339Nano)},
	}
	reply := m.env.Do("POST", "/v1/dispatches", order)
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	require.Equal(t, http.StatusOK, m.env.Do("POST", m.path("over")+"/pause?wait=10s", nil).Status)
	require.Eventually(t, func() bool { return time.Now().After(until.Add(time.Second)) }, testenv.Patience, 50*time.Millisecond, "the rule is over")
	m.env.Do("POST", m.path("over")+"/resume?wait=10s", nil)
	m.ended("over")
	testenv.Recorder{T: t, H: m.env}.Run("dispatch-over-while-paused", workflows.DispatchWorkflowID(m.key("over")), "")
}
