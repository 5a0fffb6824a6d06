package dispatch

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/dispatch"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	h := newWorld(0, 1)
	e := h.executor()
	env.RegisterActivity(e.CleanUp)
	sweep := dispatch.Cleanup{Delete: []dispatch.Part{{Prefix: "a/", Pages: 2}}}
	_, err := env.ExecuteActivity(e.CleanUp, sweep)
	require.NoError(t, err)
	require.Equal(t, sweep, h.swept)
}
