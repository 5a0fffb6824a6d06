package dispatches

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// A second round that is ended early leaves the items that it did not come to where they
// were: they are listed, and a third round sends them.
func TestASecondRoundThatIsEndedLosesNothing(t *testing.T) {
	t.Parallel()
	const items = 40
	for name, end := range map[string]func(t *testing.T, env *testenv.Env, key wire.Key){
		"cancelled": func(t *testing.T, env *testenv.Env, key wire.Key) {
			t.Helper()
			_, _, err := env.Engine.Dispatches.Cancel(t.Context(), key, wait)
			require.NoError(t, err)
		},
		"terminated": func(t *testing.T, env *testenv.Env, key wire.Key) {
			t.Helper()
			require.NoError(t, env.Client.TerminateWorkflow(t.Context(), workflows.DispatchWorkflowID(key), "", "by hand"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, r := testenv.Open(t, testenv.Addr), receiver.New(t)
			var mended atomic.Bool
			url := r.On("/again-"+name, func(w http.ResponseWriter, _ *http.Request, _ int) {
				if !mended.Load() {
					w.Header().Set("Wakecall-No-Retry", "true")
					w.WriteHeader(http.StatusInternalServerError)
				}
			})
			businessType := "d-again-" + name
			env.Policy(businessType, testenv.JSON{"callback": testenv.JSON{"url": url}})
			d, order := env.Engine.Dispatches, mass(businessType, "a", 20) // its rounds last 2 s, and do not end before they are ended
			_, _, err := d.Add(t.Context(), order, dispatchItems(items))
			require.NoError(t, err)
			awaitDispatch(t, env, order.Key, in(dispatch.DoneWithFailures))
			mended.Store(true)
			_, retried, err := d.RetryFailures(t.Context(), order.Key)
			require.NoError(t, err)
			require.Equal(t, items, retried)
			slow := 5.0
			_, _, err = d.Change(t.Context(), order.Key, dispatch.Change{PerSecond: &slow}, wait)
			require.NoError(t, err)
			end(t, env, order.Key)
			view := awaitDispatch(t, env, order.Key, in(dispatch.Cancelled))
			listed := 0
			require.NoError(t, d.Failures(t.Context(), order.Key, func(dispatch.Failure) error { listed++; return nil }))
			require.Equal(t, view.Failed, listed)
			require.Equal(t, items, view.Done+view.Failed)
			require.Positive(t, listed)
			_, retried, err = d.RetryFailures(t.Context(), order.Key)
			require.NoError(t, err)
			require.Equal(t, listed, retried)
			fast := 200.0
			_, _, err = d.Change(t.Context(), order.Key, dispatch.Change{PerSecond: &fast}, wait)
			if wire.CodeOf(err) != wire.AlreadyFinished {
				require.NoError(t, err)
			}
			view = awaitDispatch(t, env, order.Key, in(dispatch.Done))
			require.Equal(t, []int{items, 0}, []int{view.Done, view.Failed})
		})
	}
}
