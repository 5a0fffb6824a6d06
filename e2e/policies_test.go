package e2e

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/workflows"
)

// putIf sends a policy with a precondition.
func putIf(h *house.House, path string, policy house.JSON, match string) house.Reply {
	request := h.Request("PUT", path, policy)
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	return h.Send(request)
}

func TestPolicyLife(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	path := "/v1/policies/" + kind
	policy := house.JSON{
		"callback": house.JSON{"url": r.URL, "headers": house.JSON{"Authorization": "Bearer s3cret"}, "timeout": "3s"},
		"retry":    house.JSON{"initial": "1s"}, "expires_after": "24h", "signing_secrets": []string{secret()},
	}
	require.Equal(t, http.StatusNotFound, h.Do("GET", path, nil).Status)
	require.Equal(t, http.StatusPreconditionFailed, putIf(h, path, policy, "*").Status, "there is none to match")
	created := putIf(h, path, policy, "")
	require.Equal(t, http.StatusCreated, created.Status)
	require.Equal(t, `"1"`, created.Header.Get("ETag"))
	got := h.Do("GET", path, nil)
	require.JSONEq(t, `{"business_type":"`+kind+`","version":1,"callback":{"url":"`+r.URL+`","headers":{"Authorization":"***"},"timeout":"3s"},
		"retry":{"initial":"1s","multiplier":2,"max_interval":"1h","max_attempts":10},"expires_after":"24h","secret_overlap":"24h","limits":{"in_flight":200},"priority":3,"reuse":"after_failure","min_interval":"1s","preload":"2s","max_back_pressure":"1h"}`, string(got.Body),
		"defaults are shown, secrets are not")

	require.Equal(t, http.StatusPreconditionFailed, putIf(h, path, policy, `"7"`).Status)
	require.Equal(t, http.StatusUnprocessableEntity, putIf(h, path, policy, `7`).Status)
	for i, match := range []string{`"1"`, "*", ""} {
		policy["expires_after"] = strconv.Itoa(i+1) + "h"
		changed := putIf(h, path, policy, match)
		require.Equal(t, http.StatusOK, changed.Status)
		require.Equal(t, `"`+string(rune('2'+i))+`"`, changed.Header.Get("ETag"))
	}
	require.Equal(t, `"4"`, putIf(h, path, policy, "").Header.Get("ETag"), "what says nothing new changes nothing")
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", path, nil).Status)
	require.Equal(t, http.StatusNotFound, h.Do("GET", path, nil).Status)
	require.Equal(t, http.StatusNotFound, h.Do("DELETE", path, nil).Status)
	require.Equal(t, `"5"`, putIf(h, path, policy, "").Header.Get("ETag"), "an ETag never comes twice")
	require.Equal(t, http.StatusUnprocessableEntity, h.Do("PUT", path, house.JSON{"callback": house.JSON{"url": ""}}).Status)
}

// patch edits a policy in part.
func patch(h *house.House, path, body, match string) house.Reply {
	request := h.Request("PATCH", path, body)
	request.Header.Set("Content-Type", "application/merge-patch+json")
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	return h.Send(request)
}

func TestPolicyIsEditedInPart(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	path, key := "/v1/policies/"+kind, secret()
	h.Policy(kind, house.JSON{
		"callback":        house.JSON{"url": r.URL, "headers": house.JSON{"Authorization": "Bearer s3cret", "X-Old": "1"}, "timeout": "3s"},
		"signing_secrets": []string{key}, "limits": house.JSON{"pending": 5},
	})
	require.Equal(t, http.StatusPreconditionFailed, patch(h, path, `{"priority":1}`, `"7"`).Status)
	edited := patch(h, path, `{"priority":1,"limits":{"pending":null},"callback":{"headers":{"X-New":"2","X-Old":null}}}`, `"1"`)
	require.Equal(t, http.StatusOK, edited.Status, "%s", edited.Body)
	require.Equal(t, `"2"`, edited.Header.Get("ETag"))
	require.JSONEq(t, `{"business_type":"`+kind+`","version":2,"callback":{"url":"`+r.URL+`","headers":{"Authorization":"***","X-New":"***"},"timeout":"3s"},
		"retry":{"steps":["10s","1m","10m","1h","6h"],"jitter":0.2},"secret_overlap":"24h","limits":{"in_flight":200},"priority":1,"reuse":"after_failure","min_interval":"1s","preload":"2s","max_back_pressure":"1h"}`, string(edited.Body))
	require.Equal(t, `"2"`, h.Do("PATCH", path, `{"priority":1}`).Header.Get("ETag"), "what says nothing new changes nothing")
	var plan struct{ Changes []struct{ Pointer string } }
	h.Do("PATCH", path+"?dry_run=true", `{"priority":2}`).Into(&plan)
	require.Equal(t, "/priority", plan.Changes[0].Pointer)
	require.Equal(t, http.StatusUnprocessableEntity, h.Do("PATCH", path, `{"priority":0}`).Status)
	require.Equal(t, http.StatusUnsupportedMediaType, func() int {
		request := h.Request("PATCH", path, `{}`)
		request.Header.Set("Content-Type", "application/json-patch+json")
		return h.Send(request).Status
	}())

	h.Add(house.JSON{"business_type": kind, "business_id": "kept", "delay": "0s"})
	call := r.Await(t, "kept", 1)[0]
	require.Equal(t, []string{"Bearer s3cret", "2", ""}, []string{call.Header.Get("Authorization"), call.Header.Get("X-New"), call.Header.Get("X-Old")})
	verifies(t, key, call, true)
}

// A type whose timers each bring their own URL is paused and limited as any other.
func TestTypeWithoutPolicyIsPaused(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	path := "/v1/policies/" + kind
	require.Equal(t, http.StatusPreconditionFailed, patch(h, path, `{"paused":true}`, "*").Status, "there is none to match")
	made := patch(h, path, `{"paused":true}`, "")
	require.Equal(t, http.StatusCreated, made.Status, "%s", made.Body)
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	refused := h.Do("POST", "/v1/timers", house.JSON{"business_type": kind, "business_id": "nobody", "delay": "0s"})
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Equal(t, "/callback/url", refused.Problem().Errors[0].Pointer)
	require.Equal(t, http.StatusNotFound, h.Do("GET", "/v1/timers/"+kind+"/nobody", nil).Status)

	h.Add(booking(kind, "held", "0s", r.URL))
	h.Await(kind+"/held", "delivering")
	require.Empty(t, r.Calls("held"))
	require.Equal(t, http.StatusOK, patch(h, path, `{"paused":false}`, `"1"`).Status)
	r.Await(t, "held", 1)
	h.Await(kind+"/held", "delivered")
}

// The URL that open timers may need is not taken away without a word.
func TestPolicyKeepsItsURLWhileTimersAreOpen(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	path := "/v1/policies/" + kind
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}})
	h.Add(house.JSON{"business_type": kind, "business_id": "1", "delay": "1h"})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Len(c, all(t, h, kind), 1)
	}, 10*time.Second, 50*time.Millisecond, "visibility lags behind")
	for method, body := range map[string]string{"PATCH": `{"callback":null}`, "PUT": `{"paused":true}`} {
		reply := h.Do(method, path, body)
		require.Equal(t, http.StatusConflict, reply.Status, method)
		require.Equal(t, "urn:wakecall:problem:policy-in-use", reply.Problem().Type)
	}
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", path+"?timers=keep", nil).Status)
	// Later than a worker may trust the policy that it has read.
	require.Equal(t, http.StatusOK, h.Do("PATCH", "/v1/timers/"+kind+"/1", house.JSON{"delay": "1s"}).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, "no_receiver", h.Get(kind+"/1").LastFailure.Message)
	}, 20*time.Second, 50*time.Millisecond, "a worker trusts a policy for a while")
}

// What is write-only is kept by a PUT that leaves it out or sends the mask
// back, so that a policy that was read can be edited and put again.
func TestPolicyKeepsWhatIsWriteOnly(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	h.Policy(kind, house.JSON{
		"callback":        house.JSON{"url": r.URL, "headers": house.JSON{"Authorization": "Bearer s3cret"}},
		"signing_secrets": []string{secret()},
	})
	var read house.JSON
	h.Do("GET", "/v1/policies/"+kind, nil).Into(&read)
	h.Policy(kind, read)
	h.Add(house.JSON{"business_type": kind, "business_id": "kept", "delay": "300ms"})
	call := r.Await(t, "kept", 1)[0]
	require.Equal(t, "Bearer s3cret", call.Header.Get("Authorization"))
	require.NotEmpty(t, call.Header.Get("webhook-signature"))

	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}, "signing_secrets": []string{}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		id := "dropped-" + time.Now().Format("150405.000")
		h.Add(house.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
		call := r.Await(t, id, 1)[0]
		assert.Empty(c, call.Header.Get("Authorization"))
		assert.Empty(c, call.Header.Get("webhook-signature"))
	}, 10*time.Second, 50*time.Millisecond, "a worker trusts a policy for a while")
}

func TestPolicyIsReadWhenTheDeliveryStarts(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	moved := receiver.New(t)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}})
	h.Add(house.JSON{"business_type": kind, "business_id": "1", "delay": "2s"})
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": moved.URL}})
	moved.Await(t, "1", 1)
	require.Empty(t, r.Calls("1"), "a receiver that moves, moves for the pending timers too")
}

func TestNothingSecretReachesTemporal(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	key := secret()
	h.Policy(kind, house.JSON{
		"callback": house.JSON{"url": r.URL, "headers": house.JSON{"Authorization": "Bearer in-the-policy"}}, "signing_secrets": []string{key},
	})
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL, "headers": house.JSON{"X-Key": "in-the-update"}}})
	body := booking(kind, "1", "0s", r.URL)
	body["callback"] = house.JSON{"url": r.URL, "headers": house.JSON{"X-Key": "in-the-timer"}}
	h.Add(body)
	require.Equal(t, "in-the-timer", r.Await(t, "1", 1)[0].Header.Get("X-Key"))
	h.Await(kind+"/1", "delivered")
	h.Do("PUT", "/v1/timers/"+kind+"/2", house.JSON{"delay": "1h", "callback": house.JSON{"url": r.URL, "headers": house.JSON{"X-Key": "in-the-change"}}})
	for _, id := range []string{kind + "/1", kind + "/2", workflows.PolicyID(kind)} {
		stored := everything(t, h, id)
		require.Contains(t, stored, r.URL, "the oracle sees what is stored")
		for _, word := range []string{"in-the-policy", "in-the-update", "in-the-timer", "in-the-change", key} {
			require.NotContains(t, stored, word, id)
		}
	}
}

// everything is all that Temporal holds about a workflow, as text.
func everything(t *testing.T, h *house.House, id string) string {
	described, err := h.Client.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	text := described.String()
	history := h.Client.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		text += event.String()
	}
	return text
}

func TestListPolicies(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL, "headers": house.JSON{"Authorization": "x"}}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var list struct {
			Policies []struct {
				Type     string `json:"business_type"`
				Callback struct{ Headers map[string]string }
			}
		}
		h.Do("GET", "/v1/policies", nil).Into(&list)
		found := map[string]string{}
		for _, policy := range list.Policies {
			found[policy.Type] = policy.Callback.Headers["Authorization"]
		}
		assert.Equal(c, "***", found[kind])
	}, 10*time.Second, 50*time.Millisecond, "visibility lags behind")
}

func TestPolicyOfOpenTimers(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	path := "/v1/policies/" + kind
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}})
	h.AddMany(kind, 3, "1h")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Len(c, all(t, h, kind), 3)
	}, 10*time.Second, 50*time.Millisecond, "visibility lags behind")
	reply := h.Do("DELETE", path, nil)
	require.Equal(t, http.StatusConflict, reply.Status)
	require.Contains(t, reply.Problem().Detail, "3 open timers")
	require.Equal(t, http.StatusUnprocessableEntity, h.Do("DELETE", path+"?timers=forget", nil).Status)
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", path+"?timers=cancel", nil).Status)
	h.AwaitAll(kind, 3, "cancelled")

	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}})
	h.Add(booking(kind, "own", "1s", r.URL))
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", path+"?timers=keep", nil).Status)
	h.Await(kind+"/own", "delivered")
}

func TestPolicyVersions(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	path := "/v1/policies/" + kind
	for _, expiry := range []string{"1h", "2h", "2h", "3h"} {
		h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL, "headers": house.JSON{"X-Key": "hidden"}}, "expires_after": expiry})
	}
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", path, nil).Status)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}, "expires_after": "5h"})
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
		reply := h.Do("GET", path+"/versions", nil)
		require.Equal(c, http.StatusOK, reply.Status)
		require.NotContains(c, string(reply.Body), "hidden")
		reply.Into(&list)
		require.Len(c, list.Versions, 5)
	}, 10*time.Second, 50*time.Millisecond, "visibility lags behind")
	var told []string
	for _, v := range list.Versions {
		require.Equal(t, "anonymous", v.ChangedBy)
		require.WithinDuration(t, time.Now(), v.ChangedAt, time.Minute)
		told = append(told, strconv.Itoa(v.Version)+" "+v.Policy.ExpiresAfter+strconv.FormatBool(v.Deleted))
	}
	require.Equal(t, []string{"4 5hfalse", "3 true", "3 3hfalse", "2 2hfalse", "1 1hfalse"}, told, "newest first")
	require.Equal(t, http.StatusNotFound, h.Do("GET", "/v1/policies/"+kind+".none/versions", nil).Status)
}

func TestPolicyDryRun(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	path := "/v1/policies/" + kind
	var plan struct {
		Created bool
		Changes []struct {
			Pointer  string
			From, To any
		}
	}
	policy := house.JSON{"callback": house.JSON{"url": r.URL, "headers": house.JSON{"X-Key": "one"}}, "signing_secrets": []string{secret()}}
	h.Do("PUT", path+"?dry_run=true", policy).Into(&plan)
	require.True(t, plan.Created)
	require.Equal(t, http.StatusNotFound, h.Do("GET", path, nil).Status, "nothing was stored")
	h.Policy(kind, policy)
	h.Do("PUT", path+"?dry_run=true", policy).Into(&plan)
	require.Empty(t, plan.Changes)
	policy["callback"] = house.JSON{"url": r.URL, "headers": house.JSON{"X-Key": "two"}}
	policy["limits"] = house.JSON{"callbacks_per_second": 5}
	reply := h.Do("PUT", path+"?dry_run=true", policy)
	reply.Into(&plan)
	require.NotContains(t, string(reply.Body), "two")
	require.Len(t, plan.Changes, 2)
	require.Equal(t, "/callback/headers/X-Key", plan.Changes[0].Pointer)
	require.Equal(t, "***", plan.Changes[0].To)
	require.Equal(t, "/limits/callbacks_per_second", plan.Changes[1].Pointer)
	require.Nil(t, plan.Changes[1].From)
	require.Equal(t, http.StatusUnprocessableEntity, h.Do("PUT", path+"?dry_run=true", house.JSON{"callback": house.JSON{"url": ""}}).Status)
	require.Equal(t, http.StatusUnprocessableEntity, h.Do("PUT", path+"?dry_run=maybe", policy).Status)
}

// During a rotation a receiver that knows only the old secret, and one that
// knows only the new one, both can verify what they get.
func TestSecretRotation(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	old, fresh := secret(), secret()
	policy := house.JSON{"callback": house.JSON{"url": r.URL}, "signing_secrets": []string{old}, "secret_overlap": "4s"}
	h.Policy(kind, policy)
	policy["signing_secrets"] = []string{fresh}
	h.Policy(kind, policy)
	h.Add(house.JSON{"business_type": kind, "business_id": "during", "delay": "0s"})
	require.Contains(t, string(h.Do("GET", "/v1/policies/"+kind, nil).Body), "retired_secrets")
	during := r.Await(t, "during", 1)[0]
	verifies(t, old, during, true)
	verifies(t, fresh, during, true)
	h.Add(house.JSON{"business_type": kind, "business_id": "after", "delay": "5s"})
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
