package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/timer"
)

func items(n int) (all []timer.DispatchItem) {
	for i := range n {
		all = append(all, timer.DispatchItem{ID: fmt.Sprint("n-", i), Payload: fmt.Appendf(nil, `{"n": %d}`, i)})
	}
	return all
}

// awaitDispatch returns a dispatch once it has the status.
func awaitDispatch(t *testing.T, env *testenv.Env, key timer.Key, status timer.DispatchStatus) (view timer.DispatchView) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var err error
		view, err = env.Engine.Dispatches.Get(t.Context(), key)
		require.NoError(c, err)
		require.Equal(c, status, view.Status)
	}, 30*time.Second, 50*time.Millisecond)
	return view
}

// Every item of an order is called back once, with its payload as it was given.
func TestADispatchOfItemsBroughtAlong(t *testing.T) {
	t.Parallel()
	env, r := testenv.Open(t, temporalAddr), receiver.New(t)
	env.Policy("d-inline", testenv.JSON{"callback": testenv.JSON{"url": r.On("/inline", receiver.Status(200))}})
	order := timer.Dispatch{Key: timer.Key{BusinessType: "d-inline", BusinessID: "a"}, PerSecond: 500}
	view, created, err := env.Engine.Dispatches.Add(t.Context(), order, items(400))
	require.NoError(t, err)
	require.True(t, created)
	view = awaitDispatch(t, env, order.Key, timer.DispatchDone)
	require.Equal(t, 400, view.Done)
	require.Equal(t, 0, *view.Rest)
	calls := r.To("/inline")
	require.Len(t, calls, 400)
	ids := map[string]bool{}
	for _, call := range calls {
		ids[call.Header.Get("webhook-id")] = true
		n := strings.TrimPrefix(call.ID(), "n-")
		require.Equal(t, `{"n": `+n+`}`, string(call.Body), "byte for byte")
	}
	require.Len(t, ids, 400, "each item has an id of its own")
}
