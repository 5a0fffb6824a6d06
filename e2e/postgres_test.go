package e2e

import (
	"net/http"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
)

func TestProduction(t *testing.T) {
	t.Parallel()
	p, r, kind := process.NewProduction(t, process.Direct), receiver.New(t), "order-close"
	roles := p.Start("api", "worker")
	api, worker := roles[0], roles[1]
	signing := secret()
	p.Policy(kind, house.JSON{
		"callback": house.JSON{"url": r.URL}, "signing_secrets": []string{signing},
		"retry": house.JSON{"steps": []string{"100ms", "100ms", "100ms"}, "jitter": 0},
	})
	book := func(id, delay string) house.Timer {
		return p.Add(house.JSON{"business_type": kind, "business_id": id, "delay": delay, "payload": house.JSON{"id": id}})
	}
	path := func(id string) string { return "/v1/timers/" + kind + "/" + id }

	t.Run("has the indexes that Wakecall needs", func(t *testing.T) { indexesOfPostgres(t, p.Postgres) })
	t.Run("asks for a key", func(t *testing.T) {
		stranger := process.API{T: t, URL: p.URL}
		for method, path := range map[string]string{"GET": path("1"), "POST": "/v1/timers"} {
			status, _, err := stranger.Try(method, path, house.JSON{})
			require.NoError(t, err)
			require.Equal(t, http.StatusUnauthorized, status)
		}
	})
	t.Run("rings, signed", func(t *testing.T) {
		booked := book("rings", "1s")
		call := r.Await(t, "rings", 1)[0]
		require.False(t, call.At.Before(booked.DueAt))
		require.JSONEq(t, `{"id":"rings"}`, string(call.Body))
		verifier, err := webhooks.NewWebhook(signing)
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(call.Body, call.Header))
		p.Await(kind+"/rings", "delivered")
	})
	t.Run("retries", func(t *testing.T) {
		p.Add(house.JSON{
			"business_type": kind, "business_id": "retried", "delay": "0s",
			"callback": house.JSON{"url": r.On("/twice", receiver.FailFirst(2))},
		})
		require.Equal(t, 3, p.Await(kind+"/retried", "delivered").Attempts)
		ids := map[string]bool{}
		for _, call := range r.Calls("retried") {
			ids[call.Header.Get("webhook-id")] = true
		}
		require.Len(t, ids, 1)
	})
	t.Run("moves", func(t *testing.T) {
		book("earlier", "24h")
		moved := p.Do("PATCH", path("earlier"), house.JSON{"delay": "1s"}, http.StatusOK)
		call := r.Await(t, "earlier", 1)[0]
		require.False(t, call.At.Before(moved.DueAt))
		book("later", "24h")
		p.Do("PATCH", path("later"), house.JSON{"delay": "48h"}, http.StatusOK)
		require.Equal(t, 2, p.Get(kind+"/later").Revision)
	})
	t.Run("cancels", func(t *testing.T) {
		book("cancelled", "24h")
		require.Equal(t, "cancelled", p.Do("DELETE", path("cancelled"), nil, http.StatusOK).Status)
		require.Equal(t, "cancelled", p.Do("DELETE", path("cancelled"), nil, http.StatusOK).Status)
	})
	t.Run("lists", func(t *testing.T) {
		p.AwaitList(kind, map[string]string{
			"rings": "delivered", "retried": "delivered", "earlier": "delivered", "later": "scheduled", "cancelled": "cancelled",
		})
	})
	t.Run("takes timers without a worker", func(t *testing.T) {
		require.Zero(t, worker.Stop())
		book("posted", "1s")
		p.Do("PUT", path("put"), house.JSON{"delay": "1s", "payload": house.JSON{"id": "put"}}, http.StatusCreated)
		p.Do("PUT", path("later")+"?wait=100ms", house.JSON{"delay": "1s", "payload": house.JSON{"id": "put"}}, http.StatusAccepted)
		worker = p.Start("worker")[0]
		for _, id := range []string{"posted", "put", "later"} {
			r.Await(t, id, 1)
			p.Await(kind+"/"+id, "delivered")
			require.Len(t, r.Calls(id), 1)
		}
	})
	t.Run("rings after its worker was killed", func(t *testing.T) {
		book("bereft", "2s")
		hanging := p.Add(house.JSON{
			"business_type": kind, "business_id": "hanging", "delay": "0s",
			"callback": house.JSON{"url": r.On("/hang", hangOnce(1))},
		})
		r.Await(t, "hanging", 1)
		worker.Kill()
		worker = p.Start("worker")[0]
		p.Await(kind+"/bereft", "delivered")
		p.Await(kind+"/hanging", "delivered")
		require.Len(t, r.Calls("bereft"), 1)
		calls := r.Calls("hanging")
		require.Len(t, calls, 2)
		require.Equal(t, hanging.WebhookID, calls[1].Header.Get("webhook-id"))
	})
	t.Run("restarts in any order", func(t *testing.T) {
		book("patient", "3s")
		require.Zero(t, api.Stop())
		require.Zero(t, worker.Stop())
		worker = p.Start("worker")[0]
		api = p.Start("api")[0]
		p.Await(kind+"/patient", "delivered")
		api.Kill()
		book := house.JSON{"business_type": kind, "business_id": "next", "delay": "0s"}
		_, _, err := p.Try("POST", "/v1/timers", book)
		require.Error(t, err, "nobody listens")
		api = p.Start("api")[0]
		p.Add(book)
		p.Await(kind+"/next", "delivered")
	})
	t.Run("outlives Temporal and PostgreSQL", func(t *testing.T) {
		book("surviving", "5s")
		p.Temporal.Kill()
		p.Postgres.Kill()
		p.Postgres.Start()
		p.Temporal = p.Start("temporal")[0]
		r.Await(t, "surviving", 1)
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			status, answer, err := p.Try("GET", path("surviving"), nil)
			require.NoError(c, err)
			require.Equal(c, http.StatusOK, status)
			require.Contains(c, string(answer), `"delivered"`)
		}, time.Minute, 100*time.Millisecond, "the answer is recorded once Temporal is up")
		require.False(t, api.Ended())
		require.False(t, worker.Ended())
	})
}
