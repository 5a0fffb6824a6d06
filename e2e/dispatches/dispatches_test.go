package dispatches

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

const wait = 5 * time.Second

func dispatchItems(n int) (all []dispatch.Item) {
	for i := range n {
		all = append(all, dispatch.Item{ID: fmt.Sprint("n-", i), Payload: fmt.Appendf(nil, `{"n": %d}`, i)})
	}
	return all
}

func mass(businessType, id string, perSecond float64) dispatch.Dispatch {
	return dispatch.Dispatch{Key: wire.Key{BusinessType: businessType, BusinessID: id}, PerSecond: perSecond}
}

// awaitDispatch returns a dispatch once it is as it should be.
func awaitDispatch(t *testing.T, env *testenv.Env, key wire.Key, as func(dispatch.View) bool) (view dispatch.View) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var err error
		view, err = env.Engine.Dispatches.Get(t.Context(), key)
		require.NoError(c, err)
		require.True(c, as(view), "%+v", view)
	}, testenv.Patience, 50*time.Millisecond)
	return view
}

func in(status dispatch.Status) func(dispatch.View) bool {
	return func(view dispatch.View) bool { return view.Status == status }
}

// Every item of an order is called back once, with its payload as it was given, and that
// costs Temporal less than a twentieth of a transition for each.
func TestADispatchOfItemsBroughtAlong(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-inline", testenv.JSON{"callback": testenv.JSON{"url": r.On("/inline", receiver.Status(200))}})
	order := mass("d-inline", "a", 1000)
	_, created, err := env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(1000))
	require.NoError(t, err)
	require.True(t, created)
	view := awaitDispatch(t, env, order.Key, in(dispatch.Done))
	require.Equal(t, []int{1000, 0, 0, 1000}, []int{view.Done, view.Failed, *view.Rest, *view.Items})
	calls, ids := r.To("/inline"), map[string]bool{}
	require.Len(t, calls, 1000)
	for _, call := range calls {
		ids[call.Header.Get("webhook-id")] = true
		n := strings.TrimPrefix(call.ID(), "n-")
		require.Equal(t, `{"n": `+n+`}`, string(call.Body), "byte for byte")
	}
	require.Len(t, ids, 1000, "each item has an id of its own")

	transitions := int64(2) // the page: stored, and deleted
	for _, id := range []string{workflows.DispatchWorkflowID(order.Key), workflows.DispatchShardID(view.Memo.ID(), 0, 0)} {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), id, "")
		require.NoError(t, err)
		transitions += described.GetWorkflowExecutionInfo().GetStateTransitionCount() * int64(max(view.Memo.Shards*btoi(strings.Contains(id, "shard")), 1))
	}
	t.Logf("%d transitions for %d items", transitions, len(calls))
	require.Less(t, transitions, int64(1000/5), "of an order of a second, whose beginning and end are most of it")
	require.Eventually(t, func() bool {
		_, err := env.Engine.Dispatches.ReadPage(t.Context(), workflows.DispatchUploadPrefix(order.Key)+"0")
		return wire.CodeOf(err) == wire.NotFound
	}, testenv.Patience, 50*time.Millisecond, "nothing is left behind")

	_, _, err = env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(1000))
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(999))
	require.Equal(t, wire.AlreadyExists, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.Change(t.Context(), order.Key, dispatch.Change{}, wait)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.Cancel(t.Context(), order.Key, wait)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	_, _, err = env.Engine.Dispatches.RetryFailures(t.Context(), order.Key)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err), "none failed")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Temporal's own programs end a dispatch as they end any workflow, and the Web UI's
// summary says how far it was.
func TestTemporalsProgramsEndADispatch(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
	env.Policy("d-cli", testenv.JSON{"callback": testenv.JSON{"url": r.On("/cli", receiver.Status(200))}})
	for name, end := range process.Endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			order := mass("d-cli", strings.ReplaceAll(name, " ", "-"), 10)
			_, _, err := env.Engine.Dispatches.Add(t.Context(), order, dispatchItems(1000))
			require.NoError(t, err)
			awaitDispatch(t, env, order.Key, func(view dispatch.View) bool { return view.Done > 0 })
			process.Execute(t, end.Program(t), "--address", testenv.Addr, "workflow", end.Verb, "-w", workflows.DispatchWorkflowID(order.Key))
			view := awaitDispatch(t, env, order.Key, in(dispatch.Cancelled))
			require.Less(t, view.Done, 1000)
			var came []receiver.Call
			require.Eventually(t, func() bool { // what had left comes to its end
				before := len(came)
				came = nil
				for _, call := range r.To("/cli") {
					if call.Header.Get("Wakecall-Dispatch") == order.BusinessID {
						came = append(came, call)
					}
				}
				return len(came) == before
			}, testenv.Patience, time.Second)
			if !end.Abrupt {
				uncounted := 0
				if strings.Contains(env.Stored(workflows.DispatchShardID(view.Memo.ID(), 0, 0)), "ACTIVITY_TASK_TIMED_OUT") {
					uncounted = int(tuning.DispatchSilence.Seconds() * order.PerSecond) // its worker fell silent just then
				}
				require.LessOrEqual(t, view.Done, len(came))
				require.GreaterOrEqual(t, view.Done, len(came)-uncounted, "what has left is counted")
			}
		})
	}
}
