package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
)

func withKey(env *gateway.Gateway, key, path string, body gateway.JSON) gateway.Reply {
	request := env.Request("POST", path, body)
	request.Header.Set("Idempotency-Key", key)
	return env.Send(request)
}

// A booking that is repeated under its key books no second timer, however the first one ended.
func TestARepeatedBookingBooksOnce(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	for id, c := range map[string]struct {
		path, status string
		end          func()
	}{
		"delivered": {"/", "delivered", func() {}},
		"failed":    {"/busy", "failed", func() {}},
		"cancelled": {"/", "cancelled", func() {
			require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil).Status)
		}},
		"moved": {"/", "scheduled", func() {
			require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/moved", gateway.JSON{"delay": "2h"}).Status)
		}},
	} {
		t.Run(id, func(t *testing.T) {
			body := gateway.Booking(kind, id, "0s")
			if c.status != id || id == "cancelled" {
				body["delay"] = "1h"
			}
			first := withKey(env, `"key-1"`, "/v1/timers", body)
			require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
			c.end()
			env.End(kind+"/"+id, c.status)

			again := withKey(env, "key-1", "/v1/timers", body)
			require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
			require.Equal(t, c.status, again.Timer().Status)
			require.Equal(t, first.Timer().WebhookID, again.Timer().WebhookID)

			body["payload"] = gateway.JSON{"n": 2}
			other := withKey(env, "key-1", "/v1/timers", body)
			require.Equal(t, http.StatusUnprocessableEntity, other.Status)
			require.Equal(t, "urn:wakecall:problem:idempotency-key-reused", other.Problem().Type)
			require.Equal(t, c.status, env.Get(kind+"/"+id).Status)
		})
	}
}

// The negative control, and the limits of a key: another key, or none, books a failed or
// cancelled timer again, and no delivered one.
func TestAnotherKeyBooksAgain(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	body := gateway.Booking(kind, "1", "1h")
	require.Equal(t, http.StatusCreated, withKey(env, "key-1", "/v1/timers", body).Status)
	env.Do("DELETE", "/v1/timers/"+kind+"/1", nil)
	require.Equal(t, http.StatusCreated, withKey(env, "key-2", "/v1/timers", body).Status)
	env.Do("DELETE", "/v1/timers/"+kind+"/1", nil)
	require.Equal(t, http.StatusCreated, env.Do("POST", "/v1/timers", body).Status)

	body = gateway.Booking(kind, "2", "0s")
	require.Equal(t, http.StatusCreated, withKey(env, "key-1", "/v1/timers", body).Status)
	env.End(kind+"/2", "delivered")
	require.Equal(t, http.StatusConflict, withKey(env, "key-2", "/v1/timers", body).Status)
}

// Within Temporal's retention a key names one booking of an id, across later bookings of the
// id: with another key, without one, by a PUT, and repeatedly.
func TestAKeyNamesOneBooking(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	env.Policy(kind+".after", gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver}, "reuse": "after_end"})
	plain := func(body gateway.JSON) gateway.Reply { return env.Do("POST", "/v1/timers", body) }
	put := func(body gateway.JSON) gateway.Reply {
		return env.Do("PUT", "/v1/timers/"+body["business_type"].(string)+"/"+body["business_id"].(string),
			gateway.JSON{"delay": body["delay"], "callback": body["callback"]})
	}
	keyed := func(key string) func(gateway.JSON) gateway.Reply {
		return func(body gateway.JSON) gateway.Reply { return withKey(env, key, "/v1/timers", body) }
	}
	batch := func(body gateway.JSON) gateway.Reply {
		return withKey(env, "key-3", "/v1/timers/batch", gateway.JSON{"timers": []gateway.JSON{body}})
	}
	for name, between := range map[string][]func(gateway.JSON) gateway.Reply{
		"key": {keyed("key-2")}, "plain": {plain}, "put": {put}, "batch": {batch},
		"mixed": {keyed("key-2"), put, keyed("key-4"), plain},
	} {
		for _, kind := range []string{kind, kind + ".after"} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				body := gateway.Booking(kind, name, "0s")
				end := "delivered"
				if !strings.HasSuffix(kind, ".after") {
					body, end = gateway.Booking(kind, name, "0s"), "failed"
				}
				first := keyed("key-1")(body)
				require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
				env.End(kind+"/"+name, end)
				for _, book := range between {
					reply := book(body)
					require.Less(t, reply.Status, 300, "%s", reply.Body)
					require.NotContains(t, string(reply.Body), first.Timer().WebhookID)
					env.End(kind+"/"+name, end)
				}
				latest := env.Get(kind + "/" + name)
				require.NotEqual(t, first.Timer().WebhookID, latest.WebhookID, "the negative control: it was booked again")

				again := keyed("key-1")(body)
				require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
				require.Equal(t, first.Timer().WebhookID, again.Timer().WebhookID)
				require.Equal(t, end, again.Timer().Status)
				require.Equal(t, latest.WebhookID, env.Get(kind+"/"+name).WebhookID, "nothing was booked")
				body["payload"] = gateway.JSON{"n": 2}
				require.Equal(t, http.StatusUnprocessableEntity, keyed("key-1")(body).Status, "other content")
			})
		}
	}
}

// The booking of a key is also found while another booking has the id.
func TestAKeyNamesItsBookingWhileAnotherIsOpen(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	body := gateway.Booking(kind, "1", "1h")
	first := withKey(env, "key-1", "/v1/timers", body)
	require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
	require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/1", nil).Status)
	open := withKey(env, "key-2", "/v1/timers", body)
	require.Equal(t, http.StatusCreated, open.Status, "%s", open.Body)
	again := withKey(env, "key-1", "/v1/timers", body)
	require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
	require.Equal(t, "cancelled", again.Timer().Status)
	require.Equal(t, first.Timer().WebhookID, again.Timer().WebhookID)
	same := withKey(env, "key-3", "/v1/timers", body)
	require.Equal(t, http.StatusOK, same.Status, "%s", same.Body)
	require.Equal(t, open.Timer().WebhookID, same.Timer().WebhookID, "a new key meets the open timer")
}

func TestARepeatedBatchBooksOnce(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	timers := gateway.JSON{"timers": []gateway.JSON{gateway.Booking(kind, "1", "1h"), gateway.Booking(kind, "2", "1h")}}
	statuses := func() (statuses []int) {
		var batch struct{ Results []struct{ Status int } }
		withKey(env, `"batch-7"`, "/v1/timers/batch", timers).Into(&batch)
		for _, result := range batch.Results {
			statuses = append(statuses, result.Status)
		}
		return statuses
	}
	require.Equal(t, []int{201, 201}, statuses())
	env.Do("DELETE", "/v1/timers/"+kind+"/2", nil)
	require.Equal(t, []int{200, 200}, statuses())
	require.Equal(t, "cancelled", env.Get(kind+"/2").Status)
}

func TestIdempotencyKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	for _, key := range []string{"", `""`, `"open`, `"a";p=1`, "with space", `"a", "b"`, strings.Repeat("k", 256)} {
		request := env.Request("POST", "/v1/timers", gateway.Booking(kind, "1", "1h"))
		request.Header["Idempotency-Key"] = []string{key}
		reply := env.Send(request)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%q", key)
		require.Equal(t, "Idempotency-Key", reply.Problem().Errors[0].Pointer)
	}
	twice := env.Request("POST", "/v1/timers", gateway.Booking(kind, "1", "1h"))
	twice.Header["Idempotency-Key"] = []string{"a", "b"}
	require.Equal(t, http.StatusUnprocessableEntity, env.Send(twice).Status)
	elsewhere := env.Request("PUT", "/v1/timers/"+kind+"/1", gateway.JSON{"delay": "1h", "callback": gateway.JSON{"url": gateway.Receiver}})
	elsewhere.Header.Set("Idempotency-Key", "a")
	require.Equal(t, http.StatusUnprocessableEntity, env.Send(elsewhere).Status, "it would be ignored")
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/1", nil).Status, "nothing was booked")
}
