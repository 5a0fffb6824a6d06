package operations

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// patch edits a policy in part.
func patch(env *testenv.Env, path, body, match string) testenv.Reply {
	request := env.Request("PATCH", path, body)
	request.Header.Set("Content-Type", "application/merge-patch+json")
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	return env.Send(request)
}

// A type whose timers each bring their own URL is paused and limited as any other.
func TestTypeWithoutPolicyIsPaused(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind
	require.Equal(t, http.StatusPreconditionFailed, patch(env, path, `{"paused":true}`, "*").Status, "there is none to match")
	made := patch(env, path, `{"paused":true}`, "")
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	refused := env.Do("POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": "nobody", "delay": "0s"})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Equal(t, "/callback/url", refused.Problem().Errors[0].Pointer)
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/nobody", nil).Status)

	env.Add(sample.Booking(kind, "held", "0s", r.URL))
	env.Await(kind+"/held", "delivering")
	require.Empty(t, r.Calls("held"))
	require.Equal(t, http.StatusOK, patch(env, path, `{"paused":false}`, `"1"`).Status)
	r.Await(t, "held", 1)
	env.Await(kind+"/held", "delivered")
}

// The URL that open timers may need is not taken away without a word.
func TestPolicyKeepsItsURLWhileTimersAreOpen(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1h"})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Len(c, env.Workflows(kind), 1)
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	for method, body := range map[string]string{"PATCH": `{"callback":null}`, "PUT": `{"paused":true}`} {
		reply := env.Do(method, path, body)
		require.Equal(t, http.StatusConflict, reply.Status, method)
		require.Equal(t, "urn:wakecall:problem:policy-in-use", reply.Problem().Type)
	}
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path+"?timers=keep", nil).Status)
	// Later than a worker may trust the policy that it has read.
	require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/1", testenv.JSON{"delay": "1s"}).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, "no_receiver", env.Get(kind+"/1").LastFailure.Message)
	}, testenv.Patience, 50*time.Millisecond, "a worker trusts a policy for a while")
}

// What is write-only is kept by a PUT that leaves it out or sends the mask
// back, so that a policy that was read can be edited and put again.
func TestPolicyKeepsWhatIsWriteOnly(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{
		"callback":        testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "Bearer s3cret"}},
		"signing_secrets": []string{sample.Secret()},
	})
	var read testenv.JSON
	env.Do("GET", "/v1/policies/"+kind, nil).Into(&read)
	env.Policy(kind, read)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "kept", "delay": "300ms"})
	call := r.Await(t, "kept", 1)[0]
	require.Equal(t, "Bearer s3cret", call.Header.Get("Authorization"))
	require.NotEmpty(t, call.Header.Get("webhook-signature"))

	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "signing_secrets": []string{}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		id := "dropped-" + time.Now().Format("150405.000")
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
		call := r.Await(t, id, 1)[0]
		assert.Empty(c, call.Header.Get("Authorization"))
		assert.Empty(c, call.Header.Get("webhook-signature"))
	}, testenv.Patience, 50*time.Millisecond, "a worker trusts a policy for a while")
}

func TestPolicyIsReadWhenTheDeliveryStarts(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	moved := receiver.New(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "2s"})
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": moved.URL}})
	moved.Await(t, "1", 1)
	require.Empty(t, r.Calls("1"), "a receiver that moves, moves for the pending timers too")
}

func TestNothingSecretReachesTemporal(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	key := sample.Secret()
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "Bearer in-the-policy"}}, "signing_secrets": []string{key},
	})
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "in-the-update"}}})
	body := sample.Booking(kind, "1", "0s", r.URL)
	body["callback"] = testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "in-the-timer"}}
	env.Add(body)
	require.Equal(t, "in-the-timer", r.Await(t, "1", 1)[0].Header.Get("X-Key"))
	env.Await(kind+"/1", "delivered")
	env.Do("PUT", "/v1/timers/"+kind+"/2", testenv.JSON{"delay": "1h", "callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "in-the-change"}}})
	for _, id := range []string{kind + "/1", kind + "/2", workflows.PolicyID(kind)} {
		stored := env.Stored(id)
		require.Contains(t, stored, r.URL, "the oracle sees what is stored")
		for _, word := range []string{"in-the-policy", "in-the-update", "in-the-timer", "in-the-change", key} {
			require.NotContains(t, stored, word, id)
		}
	}
}

func TestPolicyOfOpenTimers(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.AddMany(kind, 3, time.Hour)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Len(c, env.Workflows(kind), 3)
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	reply := env.Do("DELETE", path, nil)
	require.Equal(t, http.StatusConflict, reply.Status)
	require.Contains(t, reply.Problem().Detail, "3 open timers")
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("DELETE", path+"?timers=forget", nil).Status)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path+"?timers=cancel", nil).Status)
	env.AwaitAll(kind, 3, "cancelled")

	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(sample.Booking(kind, "own", "1s", r.URL))
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path+"?timers=keep", nil).Status)
	env.Await(kind+"/own", "delivered")
}

// During a rotation a receiver that knows only the old secret, and one that
// knows only the new one, both can verify what they get.
func TestSecretRotation(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	old, fresh := sample.Secret(), sample.Secret()
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "signing_secrets": []string{old}, "secret_overlap": "4s"}
	env.Policy(kind, policy)
	policy["signing_secrets"] = []string{fresh}
	env.Policy(kind, policy)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "during", "delay": "0s"})
	require.Contains(t, string(env.Do("GET", "/v1/policies/"+kind, nil).Body), "retired_secrets")
	during := r.Await(t, "during", 1)[0]
	verifies(t, old, during, true)
	verifies(t, fresh, during, true)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "after", "delay": "5s"})
	after := r.Await(t, "after", 1)[0]
	verifies(t, fresh, after, true)
	verifies(t, old, after, false)
}

func verifies(t *testing.T, key string, call receiver.Call, want bool) {
	t.Helper()
	verifier, err := webhooks.NewWebhook(key)
	require.NoError(t, err)
	require.Equal(t, want, verifier.Verify(call.Body, call.Header) == nil)
}

func TestPolicyVersions(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind
	for _, expiry := range []string{"1h", "2h", "2h", "3h"} {
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "hidden"}}, "expires_after": expiry})
	}
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "expires_after": "5h"})
	type history struct {
		Versions []struct {
			Version   int
			ChangedAt time.Time `json:"changed_at"`
			ChangedBy string    `json:"changed_by"`
			Deleted   bool
			Policy    struct {
				ExpiresAfter string `json:"expires_after"`
			}
		}
	}
	var list history
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		list = history{} // else what is left out keeps what the last answer said
		reply := env.Do("GET", path+"/versions", nil)
		require.Equal(c, http.StatusOK, reply.Status)
		require.NotContains(c, string(reply.Body), "hidden")
		reply.Into(&list)
		require.Len(c, list.Versions, 5)
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	var told []string
	for _, v := range list.Versions {
		require.Equal(t, "anonymous", v.ChangedBy)
		require.WithinDuration(t, time.Now(), v.ChangedAt, time.Minute)
		told = append(told, strconv.Itoa(v.Version)+" "+v.Policy.ExpiresAfter+strconv.FormatBool(v.Deleted))
	}
	require.Equal(t, []string{"4 5hfalse", "3 true", "3 3hfalse", "2 2hfalse", "1 1hfalse"}, told, "newest first")
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/policies/"+kind+".none/versions", nil).Status)
}
