package operations

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	sdktemporal "go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/workflows"
)

// ends are how an entity is ended by anything but our API.
var ends = map[string]func(*testing.T, *testenv.Env, string){
	"terminated": func(t *testing.T, env *testenv.Env, id string) {
		require.NoError(t, env.Client.TerminateWorkflow(t.Context(), id, "", "a slip"))
	},
	"cancelled": func(t *testing.T, env *testenv.Env, id string) {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), id, "")
		require.NoError(t, err)
		run := described.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		require.NoError(t, env.Client.CancelWorkflow(t.Context(), id, run))
		err = env.Client.GetWorkflow(t.Context(), id, run).Get(t.Context(), nil)
		require.True(t, sdktemporal.IsCanceledError(err), "%v", err)
	},
}

func statusOf(t *testing.T, env *testenv.Env, id string) enumspb.WorkflowExecutionStatus {
	described, err := env.Client.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	return described.GetWorkflowExecutionInfo().GetStatus()
}

// A policy holds until it is deleted by a call of ours, whatever becomes of the
// workflow that keeps it.
func TestPolicyOutlivesItsWorkflow(t *testing.T) {
	t.Parallel()
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, r, kind := testenv.Start(t)
			path, id, key := "/v1/policies/"+kind, workflows.PolicyID(kind), sample.Secret()
			policy := testenv.JSON{
				"callback":        testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "Bearer s3cret"}},
				"signing_secrets": []string{key}, "limits": testenv.JSON{"pending": 3},
			}
			env.Policy(kind, policy)
			env.Add(testenv.JSON{"business_type": kind, "business_id": "before", "delay": "1s"})
			policy["paused"] = true
			delete(policy, "signing_secrets")
			env.Policy(kind, policy)
			end(t, env, id)

			got := env.Do("GET", path, nil)
			require.Equal(t, http.StatusOK, got.Status)
			require.Equal(t, `"2"`, got.Header.Get("ETag"))
			require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, statusOf(t, env, id), "and is governed again")
			env.Add(testenv.JSON{"business_type": kind, "business_id": "after", "delay": "0s"})
			end(t, env, id)
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				require.Contains(c, string(env.Do("GET", "/v1/policies", nil).Body), `"`+kind+`"`)
			}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")

			end(t, env, id)
			delete(policy, "paused")
			policy["callback"] = testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "***"}}
			changed := testenv.SendIf(env, `"2"`, env.Request("PUT", path, policy))
			require.Equal(t, http.StatusOK, changed.Status)
			require.Equal(t, `"3"`, changed.Header.Get("ETag"), "versions go on")
			for _, timer := range []string{"before", "after"} {
				call := r.Await(t, timer, 1)[0]
				require.Equal(t, "Bearer s3cret", call.Header.Get("Authorization"))
				verifies(t, key, call, true)
				env.Await(kind+"/"+timer, "delivered")
			}

			end(t, env, id)
			require.Equal(t, http.StatusNoContent, env.Do("DELETE", path+"?timers=keep", nil).Status)
			require.Equal(t, http.StatusNotFound, env.Do("GET", path, nil).Status, "a deleted one stays so")
			require.Equal(t, http.StatusUnprocessableEntity, env.Do("POST", "/v1/timers",
				testenv.JSON{"business_type": kind, "business_id": "none", "delay": "0s"}).Status)
		})
	}
}

// A policy whose secret key is lost is shown, listed and booked under, and can be
// put anew; what would keep a value that cannot be opened is refused by name.
func TestPolicyWhoseKeyIsLost(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		env, r, kind := testenv.Start(t)
		path := "/v1/policies/" + kind
		settings := testenv.Settings()
		settings.SecretKey = seal.NewKey()
		lost := testenv.OpenWith(t, testenv.Addr, settings)
		policy := testenv.JSON{
			"callback":        testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "Bearer lost"}},
			"signing_secrets": []string{sample.Secret()},
		}
		lost.Policy(kind, policy)
		policy["signing_secrets"] = []string{sample.Secret()}
		lost.Policy(kind, policy)
		if ended {
			require.NoError(t, env.Client.TerminateWorkflow(t.Context(), workflows.PolicyID(kind), "", "as a way out"))
		}
		require.Equal(t, http.StatusOK, env.Do("GET", path, nil).Status)
		require.Equal(t, http.StatusOK, env.Do("GET", path+"/versions", nil).Status)
		env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			failure := env.Get(kind + "/1").LastFailure
			require.NotNil(c, failure)
			require.Contains(c, failure.Message, "/callback/headers/Authorization")
			require.NotContains(c, failure.Message, "Bearer")
		}, testenv.Patience, 50*time.Millisecond, "the timer says what it waits for")

		read := testenv.JSON{"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "***"}}}
		for _, reply := range []testenv.Reply{env.Do("PUT", path, read), env.Do("PATCH", path, testenv.JSON{"paused": true})} {
			require.Equal(t, http.StatusUnprocessableEntity, reply.Status)
			problem := reply.Problem()
			require.Len(t, problem.Errors, 2)
			require.Equal(t, "/callback/headers/Authorization", problem.Errors[0].Pointer)
			require.Equal(t, "/signing_secrets", problem.Errors[1].Pointer)
			require.Contains(t, string(reply.Body), "WAKECALL_SECRET_KEY")
		}
		key := sample.Secret()
		whole := testenv.JSON{
			"callback":        testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "Bearer new"}},
			"signing_secrets": []string{key},
		}
		require.Equal(t, http.StatusOK, env.Do("PUT", path+"?dry_run=true", whole).Status)
		require.Equal(t, `"3"`, env.Do("PUT", path, whole).Header.Get("ETag"))
		call := r.Await(t, "1", 1)[0]
		require.Equal(t, "Bearer new", call.Header.Get("Authorization"))
		verifies(t, key, call, true)
		env.Await(kind+"/1", "delivered")
	}
}

// A timer's own header that cannot be opened fails the timer, by its name, and
// nobody is called without it. With the key beside the new one it rings.
func TestTimerWhoseKeyIsLost(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	settings := testenv.Settings()
	other := seal.NewKey()
	settings.SecretKey = other
	lost := testenv.OpenWith(t, testenv.Addr, settings)
	body := sample.Booking(kind, "lost", "0s", r.URL)
	body["callback"] = testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "s3cret"}}
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	lost.Add(body)
	failed := env.Await(kind+"/lost", "failed")
	require.Contains(t, failed.LastFailure.Message, "sealed_header: opening the header X-Key")
	require.Equal(t, 2, failed.Attempts)
	require.Empty(t, r.Calls("lost"))

	settings.SecretKey = testenv.Settings().SecretKey + "," + other
	rotated := testenv.OpenWith(t, testenv.Addr, settings)
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "s3cret"}}}
	lost.Policy(kind, policy)
	policy["expires_after"] = "1h"
	policy["callback"] = testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "***"}}
	rotated.Policy(kind, policy) // sealed anew, with the first key
	rotated.Add(testenv.JSON{"business_type": kind, "business_id": "rotated", "delay": "0s"})
	require.Equal(t, "s3cret", r.Await(t, "rotated", 1)[0].Header.Get("X-Key"))
}

// A kept header stays with its origin.
func TestKeptHeadersStayWithTheirOrigin(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path, elsewhere := "/v1/policies/"+kind, "http://elsewhere.example/"
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "Bearer s3cret"}}})
	moved := testenv.JSON{"callback": testenv.JSON{"url": elsewhere, "headers": testenv.JSON{"Authorization": "***"}}}
	for _, reply := range []testenv.Reply{
		env.Do("PUT", path, moved), env.Do("PATCH", path, moved), env.Do("PATCH", path, testenv.JSON{"callback": testenv.JSON{"url": elsewhere}}),
		env.Do("PUT", path+"?dry_run=true", moved),
	} {
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status)
		require.Equal(t, "/callback/headers/Authorization", reply.Problem().Errors[0].Pointer)
	}
	require.Equal(t, `"1"`, env.Do("GET", path, nil).Header.Get("ETag"), "nothing was changed")
	require.Equal(t, http.StatusOK, env.Do("PATCH", path, testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/path"}}).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		id := "kept-" + time.Now().Format("150405.000")
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
		call := r.Await(t, id, 1)[0]
		assert.Equal(c, "/path", call.Path)
		assert.Equal(c, "Bearer s3cret", call.Header.Get("Authorization"))
	}, testenv.Patience, 50*time.Millisecond, "a worker trusts a policy for a while")
	require.Equal(t, http.StatusOK, env.Do("PATCH", path, testenv.JSON{"callback": testenv.JSON{
		"url": elsewhere, "headers": testenv.JSON{"Authorization": nil},
	}}).Status)
}

// However often secrets are replaced, the signature stays a header that servers
// take, and the policy stays.
func TestRotationIsBounded(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL}}
	rotate := func() testenv.Reply {
		policy["signing_secrets"] = []string{sample.Secret(), sample.Secret(), sample.Secret()}
		return env.Do("PUT", path, policy)
	}
	for range 6 {
		require.Less(t, rotate().Status, 300)
	}
	refused := rotate()
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Equal(t, "/signing_secrets", refused.Problem().Errors[0].Pointer)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	require.Less(t, len(r.Await(t, "1", 1)[0].Header.Get("webhook-signature")), 1000)
	policy["secret_overlap"] = "0s"
	require.Equal(t, http.StatusOK, rotate().Status)
	require.NotContains(t, string(env.Do("GET", path, nil).Body), "retired_secrets")
}
