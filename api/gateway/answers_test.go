package gateway_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

// fieldsIn are the members of an object, by their names.
func fieldsIn(t *testing.T, text []byte) (fields map[string]json.RawMessage) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &fields), "%s", text)
	return fields
}

// The answer to a booking has the fields and values of a get, for every kind of booking.
func TestABookingAnswersWhatAGetWould(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	env.Policy(kind, gateway.JSON{
		"callback": gateway.JSON{"url": gateway.Receiver, "headers": gateway.JSON{"X-Key": "secret"}}, "expires_after": "24h", "priority": 2,
		"retry": gateway.JSON{"steps": []string{"1s", "5s"}},
	})
	next := time.Now().Year() + 1
	own := gateway.JSON{
		"delay": "1h", "latest_at": time.Date(next, 6, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339), "payload": gateway.JSON{"n": 1}, "priority": 1,
		"callback": gateway.JSON{"url": gateway.Receiver + "/own", "headers": gateway.JSON{"X-Own": "secret"}, "timeout": "3s"}, "labels": gateway.JSON{"customer": "42"},
		"retry": gateway.JSON{"initial": "1s", "max_attempts": 3}, "on_failed": gateway.JSON{"url": gateway.Receiver + "/failed"}, "on_delivered": gateway.JSON{"url": gateway.Receiver + "/delivered"},
	}
	bookings := map[string]gateway.JSON{
		"one-shot":  {"delay": "1h"},
		"own":       own,
		"local":     {"due_local": time.Date(next, 1, 31, 9, 0, 0, 0, time.UTC).Format("2006-01-02T15:04"), "timezone": "Europe/Berlin"},
		"paused":    {"delay": "1h", "paused": true},
		"recurring": {"recurrence": gateway.JSON{"cron": "30 9 * * MON-FRI", "timezone": "Europe/Berlin", "paused": true}},
		"rule":      {"recurrence": gateway.JSON{"every": "1h", "max_occurrences": 3}, "expires_after": "10m"},
	}
	same := func(id string, answered []byte) {
		t.Helper()
		shown := fieldsIn(t, env.Do("GET", "/v1/timers/"+kind+"/"+id, nil).Body)
		booked := fieldsIn(t, answered)
		require.NotEmpty(t, booked["callback"])
		require.NotEmpty(t, booked["retry"])
		require.NotContains(t, string(answered), "secret")
		require.Len(t, booked, len(shown), "%s: %s", id, answered)
		for name, value := range shown {
			require.JSONEq(t, string(value), string(booked[name]), "%s: %s", id, name)
		}
	}
	var batch []any
	for id, terms := range bookings {
		terms["business_type"], terms["business_id"] = kind, id
		reply := env.Do("POST", "/v1/timers", terms)
		require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
		same(id, reply.Body)
		again := env.Do("POST", "/v1/timers", terms)
		require.Equal(t, http.StatusOK, again.Status)
		same(id, again.Body)
		batched := gateway.JSON{}
		for name, value := range terms {
			batched[name] = value
		}
		batched["business_id"] = "batched-" + id
		batch = append(batch, batched)
	}
	debounced := gateway.JSON{"delay": "1h", "max_wait": "5h"}
	for _, want := range []int{http.StatusCreated, http.StatusOK} {
		reply := env.Do("PUT", "/v1/timers/"+kind+"/debounced?wait=20s", debounced)
		require.Equal(t, want, reply.Status, "%s", reply.Body)
		same("debounced", reply.Body)
	}
	for range 2 { // booked, and existing
		var answer struct {
			Results []struct{ Timer json.RawMessage }
		}
		env.Do("POST", "/v1/timers/batch", gateway.JSON{"timers": batch}).Into(&answer)
		require.Len(t, answer.Results, len(batch))
		for i, result := range answer.Results {
			same(batch[i].(gateway.JSON)["business_id"].(string), result.Timer)
		}
	}
	keyed := env.Request("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": "keyed", "delay": "1h"})
	keyed.Header.Set("Idempotency-Key", `"one"`)
	same("keyed", env.Send(keyed).Body)
	repeated := env.Request("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": "keyed", "delay": "1h"})
	repeated.Header.Set("Idempotency-Key", `"one"`)
	same("keyed", env.Send(repeated).Body)
}
