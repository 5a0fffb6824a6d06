package front

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// A probe that somebody ended is started again by the next question.
func TestReadinessHealsByItself(t *testing.T) {
	t.Parallel()
	env, _, _ := testenv.Start(t)
	ready := func(when string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			assert.Equal(c, http.StatusOK, env.Do("GET", "/readyz", nil).Status)
		}, testenv.Patience, 50*time.Millisecond, when)
	}
	ready("before")
	require.NoError(t, env.Client.TerminateWorkflow(t.Context(), workflows.ProbeID, "", "by hand"))
	require.NoError(t, env.Engine.Namespace.Ready(t.Context()), "terminated")
	require.NoError(t, env.Client.CancelWorkflow(t.Context(), workflows.ProbeID, ""))
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NoError(c, env.Engine.Namespace.Ready(t.Context())) }, testenv.Patience, 50*time.Millisecond, "cancelled")
	ready("after")
}

// Of two headers that differ in case only, one would be sent at random.
func TestHeadersInTwoCases(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	twice := testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Tenant": "a", "x-tenant": "b"}}
	for _, reply := range []testenv.Reply{
		env.Do("PUT", "/v1/policies/"+kind, testenv.JSON{"callback": twice}),
		env.Do("POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1h", "callback": twice}),
	} {
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status)
		require.Equal(t, "/callback/headers/x-tenant", reply.Problem().Errors[0].Pointer)
	}
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Tenant": "policy"}}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "2", "delay": "0s", "callback": testenv.JSON{"headers": testenv.JSON{"x-tenant": "timer"}}})
	require.Equal(t, []string{"timer"}, r.Await(t, "2", 1)[0].Header.Values("X-Tenant"))
}
