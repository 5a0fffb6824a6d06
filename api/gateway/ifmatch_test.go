package gateway_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

func TestIfMatch(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	path := "/v1/timers/" + kind + "/1"
	missing := env.SendIf("*", env.Request("PUT", path, gateway.JSON{"delay": "1h", "callback": gateway.JSON{"url": gateway.Receiver}}))
	require.Equal(t, http.StatusPreconditionFailed, missing.Status, "%s", missing.Body)
	require.Equal(t, http.StatusNotFound, env.Do("GET", path, nil).Status, "nothing was made")
	require.Equal(t, http.StatusNotFound, env.SendIf("*", env.Request("PATCH", path, gateway.JSON{"delay": "1h"})).Status)

	booked := env.Do("POST", "/v1/timers", gateway.Booking(kind, "1", "1h"))
	first := booked.Header.Get("ETag")
	require.Equal(t, first, env.Do("GET", path, nil).Header.Get("ETag"))
	moved := env.SendIf(first, env.Request("PATCH", path, gateway.JSON{"delay": "2h"}))
	require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Body)
	second := moved.Header.Get("ETag")
	require.NotEqual(t, first, second)
	for method, below := range map[string]string{"PATCH": "", "PUT": "", "DELETE": "", "POST": "/fire"} {
		var body any
		if below == "" && method != "DELETE" {
			body = gateway.JSON{"delay": "3h", "callback": gateway.JSON{"url": gateway.Receiver}}
		}
		for _, tag := range []string{first, `"1"`} {
			refused := env.SendIf(tag, env.Request(method, path+below, body))
			require.Equal(t, http.StatusPreconditionFailed, refused.Status, "%s %s", method, refused.Body)
			require.Equal(t, "urn:wakecall:problem:precondition-failed", refused.Problem().Type)
			require.Equal(t, 2, refused.Problem().Timer.Revision, "the true state")
			require.Equal(t, second, refused.Header.Get("ETag"))
		}
		require.Equal(t, http.StatusUnprocessableEntity, env.SendIf("W/"+second, env.Request(method, path+below, body)).Status)
	}
	require.Equal(t, 2, env.Get(kind+"/1").Revision)
	put := env.SendIf(`"2"`, env.Request("PUT", path, gateway.JSON{"delay": "3h", "callback": gateway.JSON{"url": gateway.Receiver}}))
	require.Equal(t, http.StatusOK, put.Status, "%s", put.Body)
	require.Equal(t, 3, put.Timer().Revision)
	require.Equal(t, booked.Timer().WebhookID, put.Timer().WebhookID, "it is the same timer")
	third := put.Header.Get("ETag")
	require.Equal(t, http.StatusOK, env.SendIf(third, env.Request("DELETE", path, nil)).Status)
	require.Equal(t, http.StatusOK, env.SendIf(third, env.Request("DELETE", path, nil)).Status, "cancelled already")

	env.Add(gateway.Booking(kind, "1", "1h"))
	again := env.Do("GET", path, nil)
	require.Equal(t, 1, again.Timer().Revision)
	require.Equal(t, http.StatusPreconditionFailed, env.SendIf(first, env.Request("PATCH", path, gateway.JSON{"delay": "2h"})).Status, "the same revision of another booking")
	require.Equal(t, http.StatusOK, env.SendIf(again.Header.Get("ETag"), env.Request("POST", path+"/fire", nil)).Status)
}

func TestIfMatchOfARecurringTimer(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	path := "/v1/timers/" + kind + "/1"
	timer := gateway.Booking(kind, "1", "")
	delete(timer, "delay")
	timer["recurrence"] = gateway.JSON{"every": "1h"}
	booked := env.Do("POST", "/v1/timers", timer)
	tag, first := booked.Header.Get("ETag"), booked.Timer()
	env.Occur(kind + "/1")
	rung := env.Do("GET", path, nil)
	require.Equal(t, tag, rung.Header.Get("ETag"), "an occurrence is not a change")
	require.NotEqual(t, first.DueAt, rung.Timer().DueAt, "the timer waits for the next occurrence")
	require.NotEqual(t, first.WebhookID, rung.Timer().WebhookID)
	require.Equal(t, http.StatusPreconditionFailed, env.SendIf(`"9"`, env.Request("POST", path+"/pause", nil)).Status)
	paused := env.SendIf(tag, env.Request("POST", path+"/pause", nil))
	require.Equal(t, http.StatusOK, paused.Status, "%s", paused.Body)
	require.Equal(t, http.StatusPreconditionFailed, env.SendIf(tag, env.Request("POST", path+"/resume", nil)).Status)
	resumed := env.SendIf(paused.Header.Get("ETag"), env.Request("POST", path+"/resume", nil))
	require.Equal(t, http.StatusOK, resumed.Status, "%s", resumed.Body)
	require.Equal(t, http.StatusOK, env.SendIf(resumed.Header.Get("ETag"), env.Request("DELETE", path, nil)).Status)
}
