package pace

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// TestPace runs one deployment for all: first what restarts it. While a receiver's patience lasts,
// nothing else happens, and the tests run that nothing may disturb.
func TestPace(t *testing.T) {
	t.Parallel()
	p := process.NewProduction(t, process.Direct)
	p.Start("api")
	workers := []*process.Process{p.Start("worker")[0], p.Beside("worker")}
	await := restarted(t, p, workers)
	t.Run("undisturbed", func(t *testing.T) {
		t.Run("a limit holds for all workers together, and retries count", func(t *testing.T) {
			t.Parallel()
			b := newBusiness(t, p, "limited")
			b.callsPerSecond(20)
			b.book(timers)
			calls := b.receiver.AwaitAll(t, 2*timers)
			require.Empty(t, exceeds(arrivals(calls), 20))
			require.Empty(t, idles(arrivals(calls), 20))
			for _, worker := range workers {
				text, err := worker.Metrics()
				require.NoError(t, err)
				require.Contains(t, text, `wakecall_attempts_total{business_type="limited"`, "both workers have their part in it")
			}
		})
		t.Run("a limit below one", func(t *testing.T) {
			t.Parallel()
			b := newBusiness(t, p, "below-one")
			b.callsPerSecond(0.5)
			b.book(3)
			calls := b.receiver.AwaitAll(t, 6)
			require.Empty(t, exceeds(arrivals(calls), 0.5))
			require.Empty(t, idles(arrivals(calls), 0.5))
		})
	})
	await()
}

// timers make a backlog of 12 seconds at 20 a second, including their retries.
const timers = 120

// business is one business type with its receiver.
type business struct {
	api      process.API
	kind     string
	receiver *receiver.Receiver
	policy   contract.JSON
}

// newBusiness has a receiver that refuses the first attempt of each timer.
func newBusiness(t *testing.T, p *process.Production, kind string) *business {
	api, r := p.API, receiver.New(t)
	api.T = t
	return &business{api: api, kind: kind, receiver: r, policy: contract.JSON{
		"callback": contract.JSON{"url": r.On("/refusing", receiver.FailFirst(1))},
		"retry":    contract.JSON{"steps": []string{"10ms", "10ms", "1s", "1s"}},
	}}
}

// callsPerSecond limits the business.
func (b *business) callsPerSecond(rate float64) {
	b.policy["limits"] = contract.JSON{"callbacks_per_second": rate}
	b.api.Policy(b.kind, b.policy)
}

// book adds n timers that are due at once, and repeats bookings that a busy Temporal refuses.
func (b *business) book(n int) {
	b.api.T.Helper()
	batch := make([]contract.JSON, n)
	for i := range batch {
		batch[i] = contract.JSON{"business_type": b.kind, "business_id": strconv.Itoa(i), "delay": "0s"}
	}
	require.EventuallyWithT(b.api.T, func(c *assert.CollectT) {
		status, answer, err := b.api.Try("POST", "/v1/timers/batch", contract.JSON{"timers": batch})
		require.NoError(c, err)
		require.Equal(c, http.StatusOK, status, "%s", answer)
		var booked struct {
			Results []struct{ Status int }
		}
		require.NoError(c, json.Unmarshal(answer, &booked))
		for i, result := range slices.Backward(booked.Results) {
			if result.Status != http.StatusServiceUnavailable {
				batch = slices.Delete(batch, i, i+1)
			}
		}
		require.Empty(c, batch)
	}, time.Minute, 100*time.Millisecond, "a busy Temporal takes them in the end")
}

// awaitDelivered waits until each of n timers was called for the second time, which the
// receiver answers 200.
func (b *business) awaitDelivered(n int) []receiver.Call {
	b.api.T.Helper()
	complete := func() bool {
		for i := range n {
			if len(b.receiver.Calls(strconv.Itoa(i))) < 2 {
				return false
			}
		}
		return true
	}
	require.Eventually(b.api.T, complete, time.Minute, 100*time.Millisecond, "%s goes on by itself", b.kind)
	return b.receiver.All()
}
