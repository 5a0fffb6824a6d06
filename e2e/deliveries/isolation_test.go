package deliveries

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// Under a backlog the first priority overtakes the last one, which still gets
// its turns.
func TestPriorities(t *testing.T) {
	t.Parallel()
	addr := testenv.Alone(t)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	const low, high = 200, 50
	env.Policy(kind+".low", testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/low"}, "priority": 5})
	env.Policy(kind+".high", testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/high"}, "priority": 1})
	env.AddMany(kind+".low", low, 0) // no worker runs: these are first in line
	env.AddMany(kind+".high", high, 0)
	env.StartWorker()
	r.AwaitAll(t, low+high)
	order := r.All()
	lastHigh := 0
	for i, call := range order {
		if call.Path == "/high" {
			lastHigh = i
		}
	}
	overtaken := low - (lastHigh + 1 - high)
	require.Greater(t, overtaken, low/2, "booked later, and done before most of the others")
	require.True(t, slices.ContainsFunc(order[:lastHigh], func(c receiver.Call) bool { return c.Path == "/low" }),
		"the last priority goes on meanwhile")
}
