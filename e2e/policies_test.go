package e2e

import (
	"net/http"
	"testing"
	"time"

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
		"retry":{"initial":"1s","multiplier":2,"max_interval":"1h","max_attempts":10},"expires_after":"24h"}`, string(got.Body),
		"defaults are shown, secrets are not")

	require.Equal(t, http.StatusPreconditionFailed, putIf(h, path, policy, `"7"`).Status)
	require.Equal(t, http.StatusUnprocessableEntity, putIf(h, path, policy, `7`).Status)
	for i, match := range []string{`"1"`, "*", ""} {
		changed := putIf(h, path, policy, match)
		require.Equal(t, http.StatusOK, changed.Status)
		require.Equal(t, `"`+string(rune('2'+i))+`"`, changed.Header.Get("ETag"))
	}
	require.Equal(t, http.StatusNoContent, h.Do("DELETE", path, nil).Status)
	require.Equal(t, http.StatusNotFound, h.Do("GET", path, nil).Status)
	require.Equal(t, http.StatusNotFound, h.Do("DELETE", path, nil).Status)
	require.Equal(t, `"5"`, putIf(h, path, policy, "").Header.Get("ETag"), "an ETag never comes twice")
	require.Equal(t, http.StatusUnprocessableEntity, h.Do("PUT", path, house.JSON{"callback": house.JSON{}}).Status)
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
