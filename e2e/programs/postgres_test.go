package programs

import (
	"errors"
	"net/http"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// production is a running deployment of the form that docker-compose.yml describes.
type production struct {
	*process.Production
	receiver    *receiver.Receiver
	kind        string
	secret      string
	api, worker *process.Process
}

// The parts build on one another: what rang is listed later.
func TestProduction(t *testing.T) {
	t.Parallel()
	p := &production{Production: process.NewProduction(t, process.Direct), receiver: receiver.New(t), kind: "order-close", secret: sample.Secret()}
	roles := p.Start("api", "worker")
	p.api, p.worker = roles[0], roles[1]
	p.Policy(p.kind, contract.JSON{
		"callback": contract.JSON{"url": p.receiver.URL}, "signing_secrets": []string{p.secret},
		"retry": contract.JSON{"steps": []string{"100ms", "100ms", "100ms"}, "jitter": 0},
	})
	t.Run("may be set up again", func(t *testing.T) {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			require.NoError(c, errors.Join(p.Job("schema"), p.Job("namespace")))
		}, process.Patience, process.Interval, "a busy Temporal may not answer a job in time, which is run again then")
	})
	t.Run("has the indexes that Wakecall needs", func(t *testing.T) { indexesOfPostgres(t, p.Postgres) })
	t.Run("asks for a key", p.asksForAKey)
	t.Run("refuses a receiver that no worker may call", p.refusesPrivateReceivers)
	t.Run("rings, signed", p.ringsSigned)
	t.Run("retries", p.retries)
	t.Run("moves", p.moves)
	t.Run("cancels", p.cancels)
	t.Run("lists", p.lists)
	t.Run("finds", p.finds)
	t.Run("shows what is watched", p.showsWhatIsWatched)
	t.Run("takes timers without a worker", p.takesTimersWithoutAWorker)
	t.Run("rings after its worker was killed", p.outlivesItsWorker)
	t.Run("restarts in any order", p.restartsInAnyOrder)
	t.Run("outlives Temporal and PostgreSQL", p.outlivesItsEngine)
	t.Run("is restored from a backup", p.isRestored)
}

func (p *production) path(id string) string { return "/v1/timers/" + p.kind + "/" + id }

func (p *production) book(id, delay string) contract.Timer {
	return p.Add(contract.JSON{"business_type": p.kind, "business_id": id, "delay": delay, "payload": contract.JSON{"id": id}})
}

// bookAt books a timer that is due at once and calls back elsewhere.
func (p *production) bookAt(id, url string) contract.Timer {
	return p.Add(contract.JSON{"business_type": p.kind, "business_id": id, "delay": "0s", "callback": contract.JSON{"url": url}})
}

func (p *production) asksForAKey(t *testing.T) {
	stranger := process.API{T: t, URL: p.URL}
	for method, path := range map[string]string{"GET": p.path("1"), "POST": "/v1/timers"} {
		status, _, err := stranger.Try(method, path, contract.JSON{})
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, status)
	}
}

// The compose file tells the gateway as well which private networks workers may
// call.
func (p *production) refusesPrivateReceivers(t *testing.T) {
	status, answer, err := p.Try("PUT", "/v1/policies/private", contract.JSON{"callback": contract.JSON{"url": "http://10.1.2.3/"}})
	require.NoError(t, err)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, string(answer), `"/callback/url"`)
	require.Contains(t, string(answer), "WAKECALL_CALLBACK_ALLOW", "what is to be set is named")
}

// Each metric that the dashboard and the alerts ask for is there, with the labels by which they do,
// and the API's address has none.
func (p *production) showsWhatIsWatched(t *testing.T) {
	shown := ""
	for _, from := range []*process.Process{p.api, p.worker, p.Temporal} {
		text, err := from.Metrics()
		require.NoError(t, err)
		shown += text
	}
	// These show only once there is something to show.
	seldom := map[string]bool{
		"wakecall_overdue_total": true, "wakecall_released_total": true, "wakecall_callback_limit": true, "persistence_error_with_type": true,
		"wakecall_link_attempts_total": true, "wakecall_stream_waiting_timers": true, "wakecall_stream_connections": true,
		"wakecall_dispatch_items_total": true, "wakecall_dispatch_lag_seconds": true, "wakecall_dispatch_rate": true,
	}
	watched := process.WatchedMetrics(t)
	require.Greater(t, len(watched), 15)
	for name, labels := range watched {
		if seldom[name] {
			continue
		}
		require.Contains(t, shown, "\n# TYPE "+name+" ", "somebody watches it")
		for _, label := range labels {
			require.True(t, process.HasLabel(shown, name, label), "somebody watches %s by %s", name, label)
		}
	}
	status, _, err := p.Try("GET", "/metrics", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status, "metrics have an address of their own")
}

func (p *production) ringsSigned(t *testing.T) {
	booked := p.book("rings", "1s")
	call := p.receiver.Await(t, "rings", 1)[0]
	require.False(t, call.At.Before(booked.DueAt))
	require.JSONEq(t, `{"id":"rings"}`, string(call.Body))
	verifier, err := webhooks.NewWebhook(p.secret)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(call.Body, call.Header))
	p.Await(p.kind+"/rings", "delivered")
}

func (p *production) retries(t *testing.T) {
	p.bookAt("retried", p.receiver.On("/twice", receiver.FailFirst(2)))
	require.Equal(t, 3, p.Await(p.kind+"/retried", "delivered").Attempts)
	ids := map[string]bool{}
	for _, call := range p.receiver.Calls("retried") {
		ids[call.Header.Get("webhook-id")] = true
	}
	require.Len(t, ids, 1)
}

func (p *production) moves(t *testing.T) {
	p.book("earlier", "24h")
	moved := p.Do("PATCH", p.path("earlier"), contract.JSON{"delay": "1s"}, http.StatusOK)
	call := p.receiver.Await(t, "earlier", 1)[0]
	require.False(t, call.At.Before(moved.DueAt))
	p.book("later", "24h")
	p.Do("PATCH", p.path("later"), contract.JSON{"delay": "48h"}, http.StatusOK)
	require.Equal(t, 2, p.Get(p.kind+"/later").Revision)
}

func (p *production) cancels(t *testing.T) {
	p.book("cancelled", "24h")
	require.Equal(t, "cancelled", p.Do("DELETE", p.path("cancelled"), nil, http.StatusOK).Status)
	require.Equal(t, "cancelled", p.Do("DELETE", p.path("cancelled"), nil, http.StatusOK).Status)
}

func (p *production) lists(t *testing.T) {
	p.AwaitList(p.kind, map[string]string{
		"rings": "delivered", "retried": "delivered", "earlier": "delivered", "later": "scheduled", "cancelled": "cancelled",
	})
}

func (p *production) takesTimersWithoutAWorker(t *testing.T) {
	require.Zero(t, p.worker.Stop())
	p.book("posted", "1s")
	p.Do("PUT", p.path("put"), contract.JSON{"delay": "1s", "payload": contract.JSON{"id": "put"}}, http.StatusCreated)
	p.Do("PUT", p.path("later")+"?wait=100ms", contract.JSON{"delay": "1s", "payload": contract.JSON{"id": "put"}}, http.StatusAccepted)
	p.worker = p.Start("worker")[0]
	for _, id := range []string{"posted", "put", "later"} {
		p.receiver.Await(t, id, 1)
		p.Await(p.kind+"/"+id, "delivered")
		require.Len(t, p.receiver.Calls(id), 1)
	}
}

func (p *production) outlivesItsWorker(t *testing.T) {
	p.book("bereft", "10s")
	hanging := p.bookAt("hanging", p.receiver.On("/hang", receiver.HangOnce(1)))
	p.receiver.Await(t, "hanging", 1)
	p.worker.Kill()
	p.worker = p.Start("worker")[0]
	p.Await(p.kind+"/bereft", "delivered")
	p.Await(p.kind+"/hanging", "delivered")
	require.Len(t, p.receiver.Calls("bereft"), 1)
	calls := p.receiver.Calls("hanging")
	require.Len(t, calls, 2)
	require.Equal(t, hanging.WebhookID, calls[1].Header.Get("webhook-id"))
}

func (p *production) restartsInAnyOrder(t *testing.T) {
	p.book("patient", "3s")
	require.Zero(t, p.api.Stop())
	require.Zero(t, p.worker.Stop())
	p.worker = p.Start("worker")[0]
	p.api = p.Start("api")[0]
	p.Await(p.kind+"/patient", "delivered")
	p.api.Kill()
	book := contract.JSON{"business_type": p.kind, "business_id": "next", "delay": "0s"}
	_, _, err := p.Try("POST", "/v1/timers", book)
	require.Error(t, err, "nobody listens")
	p.api = p.Start("api")[0]
	p.Add(book)
	p.Await(p.kind+"/next", "delivered")
}

func (p *production) outlivesItsEngine(t *testing.T) {
	p.book("surviving", "5s")
	p.Temporal.Kill()
	p.Postgres.Kill()
	p.Postgres.Start()
	p.Temporal = p.Start("temporal")[0]
	p.receiver.Await(t, "surviving", 1)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		status, answer, err := p.Try("GET", p.path("surviving"), nil)
		require.NoError(c, err)
		require.Equal(c, http.StatusOK, status)
		require.Contains(c, string(answer), `"delivered"`)
	}, process.Patience, 100*time.Millisecond, "the answer is recorded once Temporal is up")
	require.False(t, p.api.Ended())
	require.False(t, p.worker.Ended())
}
