package gateway_test

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// putIf sends a policy with a precondition.
func putIf(env *gateway.Gateway, path string, policy gateway.JSON, match string) gateway.Reply {
	request := env.Request("PUT", path, policy)
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	return env.Send(request)
}

// putNew sends a policy that must be the first one.
func putNew(env *gateway.Gateway, path string, policy gateway.JSON) gateway.Reply {
	request := env.Request("PUT", path, policy)
	request.Header.Set("If-None-Match", "*")
	return env.Send(request)
}

// secretsSet is when the secrets of a policy were set, as an answer shows it.
func secretsSet(t *testing.T, answer gateway.Reply) string {
	t.Helper()
	var shown struct {
		At time.Time `json:"secrets_changed_at"`
	}
	answer.Into(&shown)
	require.WithinDuration(t, time.Now(), shown.At, time.Hour)
	return shown.At.Format("2006-01-02T15:04:05.000Z")
}

func TestPolicyLife(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	path := "/v1/policies/" + kind
	policy := gateway.JSON{
		"callback": gateway.JSON{"url": gateway.Receiver, "headers": gateway.JSON{"Authorization": "Bearer s3cret"}, "timeout": "3s"},
		"retry":    gateway.JSON{"initial": "1s"}, "expires_after": "24h", "signing_secrets": []string{secret()},
	}
	require.Equal(t, http.StatusNotFound, env.Do("GET", path, nil).Status)
	require.Equal(t, http.StatusPreconditionFailed, putIf(env, path, policy, "*").Status, "there is none to match")
	created := putIf(env, path, policy, "")
	require.Equal(t, http.StatusCreated, created.Status)
	require.Equal(t, `"1"`, created.Header.Get("ETag"))
	got := env.Do("GET", path, nil)
	require.JSONEq(t, `{"business_type":"`+kind+`","version":1,"callback":{"url":"`+gateway.Receiver+`","headers":{"Authorization":"***"},"timeout":"3s"},
		"retry":{"initial":"1s","multiplier":2,"max_interval":"1h","max_attempts":10},"expires_after":"24h","secret_overlap":"24h","secrets_changed_at":"`+secretsSet(t, got)+`","limits":{"in_flight":200},"priority":3,"reuse":"after_failure","min_interval":"1s","preload":"2s","on_time":"1s","max_back_pressure":"1h"}`, string(got.Body),
		"defaults are shown, secrets are not")

	require.Equal(t, http.StatusPreconditionFailed, putIf(env, path, policy, `"7"`).Status)
	require.Equal(t, http.StatusUnprocessableEntity, putIf(env, path, policy, `7`).Status)
	for i, match := range []string{`"1"`, "*", ""} {
		policy["expires_after"] = strconv.Itoa(i+1) + "h"
		changed := putIf(env, path, policy, match)
		require.Equal(t, http.StatusOK, changed.Status)
		require.Equal(t, `"`+string(rune('2'+i))+`"`, changed.Header.Get("ETag"))
	}
	require.Equal(t, `"4"`, putIf(env, path, policy, "").Header.Get("ETag"), "what says nothing new changes nothing")
	require.Equal(t, http.StatusPreconditionFailed, putNew(env, path, policy).Status)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status)
	require.Equal(t, http.StatusNotFound, env.Do("GET", path, nil).Status)
	require.Equal(t, http.StatusNotFound, env.Do("DELETE", path, nil).Status)
	require.Equal(t, `"5"`, putNew(env, path, policy).Header.Get("ETag"), "an ETag never comes twice")
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("PUT", path, gateway.JSON{"callback": gateway.JSON{"url": ""}}).Status)
}

func TestPolicyIsEditedInPart(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	path := "/v1/policies/" + kind
	env.Policy(kind, gateway.JSON{
		"callback":        gateway.JSON{"url": gateway.Receiver, "headers": gateway.JSON{"Authorization": "Bearer s3cret", "X-Old": "1"}, "timeout": "3s"},
		"signing_secrets": []string{secret()}, "limits": gateway.JSON{"pending": 5},
	})
	require.Equal(t, http.StatusPreconditionFailed, patch(env, path, `{"priority":1}`, `"7"`).Status)
	edited := patch(env, path, `{"priority":1,"limits":{"pending":null},"callback":{"headers":{"X-New":"2","X-Old":null}}}`, `"1"`)
	require.Equal(t, http.StatusOK, edited.Status, "%s", edited.Body)
	require.Equal(t, `"2"`, edited.Header.Get("ETag"))
	require.JSONEq(t, `{"business_type":"`+kind+`","version":2,"callback":{"url":"`+gateway.Receiver+`","headers":{"Authorization":"***","X-New":"***"},"timeout":"3s"},
		"retry":{"steps":["10s","1m","10m","1h","6h"],"jitter":0.2},"secret_overlap":"24h","secrets_changed_at":"`+secretsSet(t, edited)+`","limits":{"in_flight":200},"priority":1,"reuse":"after_failure","min_interval":"1s","preload":"2s","on_time":"1s","max_back_pressure":"1h"}`, string(edited.Body))
	require.Equal(t, `"2"`, env.Do("PATCH", path, `{"priority":1}`).Header.Get("ETag"), "what says nothing new changes nothing")
	var plan struct{ Changes []struct{ Pointer string } }
	env.Do("PATCH", path+"?dry_run=true", `{"priority":2}`).Into(&plan)
	require.Equal(t, "/priority", plan.Changes[0].Pointer)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("PATCH", path, `{"priority":0}`).Status)
	require.Equal(t, http.StatusUnsupportedMediaType, func() int {
		request := env.Request("PATCH", path, `{}`)
		request.Header.Set("Content-Type", "application/json-patch+json")
		return env.Send(request).Status
	}())
}

// A ring after an edit in part reads the edited policy. What the edit does not name stays.
func TestARingReadsTheEditedPolicy(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	path, key := "/v1/policies/"+kind, secret()
	read := func() policy.Policy { // as a worker does for each attempt
		t.Helper()
		read, err := env.Engine.Policies.Policy(t.Context(), kind)
		require.NoError(t, err)
		return read
	}
	env.Policy(kind, gateway.JSON{
		"callback":        gateway.JSON{"url": gateway.Receiver, "headers": gateway.JSON{"Authorization": "Bearer s3cret", "X-Old": "1"}, "timeout": "3s"},
		"signing_secrets": []string{key}, "priority": 2,
	})
	require.Equal(t, map[string]string{"Authorization": "Bearer s3cret", "X-Old": "1"}, read().Callback.Headers)
	edited := patch(env, path, `{"priority":1,"callback":{"headers":{"X-New":"2","X-Old":null}}}`, "")
	require.Equal(t, http.StatusOK, edited.Status, "%s", edited.Body)
	after := read()
	require.Equal(t, map[string]string{"Authorization": "Bearer s3cret", "X-New": "2"}, after.Callback.Headers)
	require.Equal(t, []string{key}, after.Secrets(time.Now()))
	require.Equal(t, delivery.HTTP(gateway.Receiver), after.Callback.Destination)
	require.Equal(t, wire.Duration(3*time.Second), after.Callback.Timeout)
	require.Equal(t, 1, after.Priority)
}

func TestListPolicies(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	env.Policy(kind, gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver, "headers": gateway.JSON{"Authorization": "x"}}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var list struct {
			Policies []struct {
				Type     string `json:"business_type"`
				Callback struct{ Headers map[string]string }
			}
		}
		env.Do("GET", "/v1/policies", nil).Into(&list)
		found := map[string]string{}
		for _, policy := range list.Policies {
			found[policy.Type] = policy.Callback.Headers["Authorization"]
		}
		assert.Equal(c, "***", found[kind])
	}, time.Minute, 50*time.Millisecond, "visibility lags behind")
}

func TestPolicyDryRun(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	path := "/v1/policies/" + kind
	var plan struct {
		Created bool
		Changes []struct {
			Pointer  string
			From, To any
		}
	}
	policy := gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver, "headers": gateway.JSON{"X-Key": "one"}}, "signing_secrets": []string{secret()}}
	env.Do("PUT", path+"?dry_run=true", policy).Into(&plan)
	require.True(t, plan.Created)
	require.Equal(t, http.StatusNotFound, env.Do("GET", path, nil).Status, "nothing was stored")
	env.Policy(kind, policy)
	env.Do("PUT", path+"?dry_run=true", policy).Into(&plan)
	require.Empty(t, plan.Changes)
	policy["callback"] = gateway.JSON{"url": gateway.Receiver, "headers": gateway.JSON{"X-Key": "two"}}
	policy["limits"] = gateway.JSON{"callbacks_per_second": 5}
	reply := env.Do("PUT", path+"?dry_run=true", policy)
	reply.Into(&plan)
	require.NotContains(t, string(reply.Body), "two")
	require.Len(t, plan.Changes, 2)
	require.Equal(t, "/callback/headers/X-Key", plan.Changes[0].Pointer)
	require.Equal(t, "***", plan.Changes[0].To)
	require.Equal(t, "/limits/callbacks_per_second", plan.Changes[1].Pointer)
	require.Nil(t, plan.Changes[1].From)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("PUT", path+"?dry_run=true", gateway.JSON{"callback": gateway.JSON{"url": ""}}).Status)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("PUT", path+"?dry_run=maybe", policy).Status)
}

// patch edits a policy in part.
func patch(env *gateway.Gateway, path, body, match string) gateway.Reply {
	request := env.Request("PATCH", path, body)
	request.Header.Set("Content-Type", "application/merge-patch+json")
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	return env.Send(request)
}

// secret is a signing secret.
func secret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}
