package deliveries

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A receiver that hangs keeps its own share of the worker, however many of its
// timers are due, and another type rings meanwhile.
func TestAHangingReceiverKeepsItsShare(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	const share, due = 10, 40
	release := make(chan struct{})
	var inside, most atomic.Int64
	r.On("/hangs", func(http.ResponseWriter, *http.Request, int) {
		now := inside.Add(1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		<-release
		inside.Add(-1)
	})
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/hangs", "timeout": "60s"}, "limits": testenv.JSON{"in_flight": share}})
	env.Policy(kind+".well", testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/well"}})
	env.AddMany(kind, due, 0)
	r.AwaitTo(t, "/hangs", share)
	env.AddMany(kind+".well", due, 0)
	r.AwaitTo(t, "/well", due)
	require.LessOrEqual(t, most.Load(), int64(share))
	require.Len(t, r.To("/hangs"), share, "the others wait for their turn")
	close(release)
	env.AwaitAll(kind, due, "delivered")
	require.LessOrEqual(t, most.Load(), int64(share))
	require.Len(t, r.To("/hangs"), due)
}

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
