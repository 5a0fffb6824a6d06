package pace

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
)

// patience is the receiver's Retry-After: longer than it takes to restart the workers and to
// stop Temporal.
const patience = 30 * time.Second

// restarted proves that limits and back-pressure survive restarts in the middle of a
// backlog: of a worker that dies, of one that is stopped, and of Temporal. It returns what is to be
// awaited in the end.
func restarted(t *testing.T, p *process.Production, workers []*process.Process) (await func()) {
	limited, slow, pressed := newBusiness(t, p, "restarted"), newBusiness(t, p, "restarted-slow"), newBusiness(t, p, "pressed")
	limited.callsPerSecond(20)
	slow.callsPerSecond(0.5)
	until := pressed.press()
	limited.book(timers)
	slow.book(5)

	limited.receiver.AwaitAll(t, timers/4)
	workers[0].Kill()
	workers[0] = p.Start("worker")[0]
	limited.receiver.AwaitAll(t, timers*3/4)
	require.Zero(t, workers[1].Stop())
	workers[1] = p.Beside("worker")
	limited.receiver.AwaitAll(t, timers*5/4)
	require.Less(t, len(slow.receiver.All()), 10, "there is a backlog still")
	require.True(t, time.Now().Before(until), "the receiver still asks for patience")
	p.Temporal.Kill()
	p.Temporal = p.Revive("temporal")

	require.Empty(t, exceeds(arrivals(limited.awaitDelivered(timers)), 20))
	return func() {
		require.Empty(t, exceeds(arrivals(slow.awaitDelivered(5)), 0.5))
		for _, call := range pressed.receiver.AwaitAll(t, 1+6)[1:] {
			require.False(t, call.At.Before(until), "%s was called %s early", call.ID(), until.Sub(call.At))
		}
	}
}

// press books one timer, whose receiver requests patience, and then five more. It returns
// the end of the back-pressure.
func (b *business) press() (until time.Time) {
	t := b.api.T
	t.Helper()
	b.receiver.On("/refusing", func(w http.ResponseWriter, r *http.Request, n int) {
		if r.Header.Get("Wakecall-Business-Id") == "first" && n == 1 {
			w.Header().Set("Retry-After", strconv.Itoa(int(patience.Seconds())))
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	b.api.Policy(b.kind, b.policy)
	b.api.Add(contract.JSON{"business_type": b.kind, "business_id": "first", "delay": "0s"})
	refused := b.receiver.Await(t, "first", 1)[0].At
	var policy struct {
		BackPressure struct{ Until time.Time } `json:"back_pressure"`
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, answer, err := b.api.Try("GET", "/v1/policies/"+b.kind, nil)
		require.NoError(c, err)
		require.NoError(c, json.Unmarshal(answer, &policy))
		assert.WithinRange(c, policy.BackPressure.Until, refused.Add(patience).Truncate(time.Millisecond), time.Now().Add(patience))
	}, process.Patience, process.Interval, "the policy's workflow hears of it")
	b.book(5)
	return policy.BackPressure.Until
}
