package deliveries

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/testenv"
)

// Under a backlog the first priority overtakes the last one, also where both call into the same
// queue.
func (h house) overtake(t *testing.T) {
	const low, high = 100, 25
	q := newQueue(t, h.broker, "order-turns")
	for kind, priority := range map[string]int{"order-low": 5, "order-high": 1} {
		h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main", "routing_key": q.name}, "priority": priority})
	}
	h.AddMany("order-low", low, 0) // no worker runs: these are first in line
	h.AddMany("order-high", high, 0)
	h.StartWorker()
	lastHigh := 0
	for place := range low + high {
		if q.next().Headers["Wakecall-Business-Type"] == "order-high" {
			lastHigh = place
		}
	}
	overtaken := low - (lastHigh + 1 - high)
	require.Greater(t, overtaken, low/2, "booked later, and done before most of the others")
}

// A queue that confirms nothing keeps its type's share of a worker, however many of its
// timers are due. Types beside it on the same broker ring meanwhile, also where another one
// breaks a channel with each attempt.
func (h house) keepToTheirShare(t *testing.T) {
	const kind, share, due = "order-stuck", 10, 30
	stuck, well := newQueue(t, h.broker, kind), newQueue(t, h.broker, "order-well")
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main", "timeout": "60s"}, "limits": testenv.JSON{"in_flight": share}})
	h.Policy("order-lost", testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "exchange": "nobody-has-this"}, "retry": testenv.JSON{"initial": "10ms", "max_interval": "10ms", "max_attempts": 20},
	})
	h.Policy(well.name, testenv.JSON{"callback": testenv.JSON{"broker": "main"}})
	h.broker.Suspend(kind)
	h.AddMany(kind, due, 0)
	h.AddMany("order-lost", share, 0)
	h.awaitUnconfirmed(t, share)
	h.AddMany(well.name, due, 0)
	for range due {
		require.Equal(t, well.name, well.next().Headers["Wakecall-Business-Type"])
	}
	h.AwaitAll(well.name, due, "delivered")
	h.awaitUnconfirmed(t, share) // the others wait for their turn
	require.Contains(t, h.Await("order-lost/0", "failed").LastFailure.Message, "unroutable: there is no such exchange (404)")
	h.broker.Resume(kind)
	for range due {
		stuck.next()
	}
	h.AwaitAll(kind, due, "delivered")
	for i := range due {
		require.Equal(t, 1, h.Get(kind+"/"+strconv.Itoa(i)).Attempts)
	}
}

// awaitUnconfirmed waits until so many messages wait for their confirmation, and no more: those
// of tests beside this one do not wait for long.
func (h house) awaitUnconfirmed(t *testing.T, wanted int) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.Equal(c, wanted, h.broker.Unconfirmed())
	}, testenv.Patience, 100*time.Millisecond, "its share is under way")
}
