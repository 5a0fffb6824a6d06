package deliveries

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

func TestCallbackHeaders(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{
		"url": r.URL + "/policy", "headers": testenv.JSON{"Authorization": "Bearer of-the-policy", "X-Tenant": "policy"},
	}})
	body := testenv.JSON{
		"business_type": kind, "business_id": "a:b~c@d=e+f-1", "delay": "0s", "payload": "x",
		"callback": testenv.JSON{"headers": testenv.JSON{"X-Tenant": "timer"}},
	}
	began, request := time.Now(), env.Request("POST", "/v1/timers", body)
	request.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	booked := env.Send(request).Timer()
	call := r.Await(t, "a:b~c@d=e+f-1", 1)[0]
	got := call.Header
	require.Equal(t, "/policy", call.Path)
	require.Equal(t, kind, got.Get("Wakecall-Business-Type"))
	require.Equal(t, booked.DueAt.Format("2006-01-02T15:04:05.000Z"), got.Get("Wakecall-Due-At"))
	require.Equal(t, "1", got.Get("Wakecall-Attempt"))
	require.Equal(t, "1", got.Get("Wakecall-Revision"))
	require.Equal(t, "application/json", got.Get("Content-Type"))
	require.Equal(t, "Bearer of-the-policy", got.Get("Authorization"))
	require.Equal(t, "timer", got.Get("X-Tenant"), "the timer's own header wins")
	require.Contains(t, got.Get("traceparent"), "4bf92f3577b34da6a3ce929d0e0e4736", "the booking's trace goes on")
	require.NotContains(t, got.Get("traceparent"), "00f067aa0ba902b7", "as a span of its own")
	require.Empty(t, got.Get("Idempotency-Key"), "Go would resend the POST by itself")
	require.Empty(t, got.Get("webhook-signature"), "no secret, no signature")
	sent, err := strconv.ParseInt(got.Get("webhook-timestamp"), 10, 64)
	require.NoError(t, err)
	require.WithinRange(t, time.Unix(sent, 0), began.Truncate(time.Second), call.At)
}

func TestPayloadByteForByte(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	const add = `{"business_type":%q,"business_id":%q,"delay":"0s","callback":{"url":%q},%s}`
	for i, payload := range []string{
		`{ "b" : 1.00, "a":[ ],  "é":"\u00e9\/<&>" , "big":12345678901234567890.10 }`, `"text"`, `17`, `null`, `[1,2 ,3]`,
	} {
		id := "json-" + strconv.Itoa(i)
		reply := env.Do("POST", "/v1/timers", fmt.Sprintf(add, kind, id, r.URL, `"payload": `+payload))
		require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
		require.Equal(t, payload, string(r.Await(t, id, 1)[0].Body))
	}
	raw := make([]byte, 60<<10)
	_, _ = rand.Read(raw)
	reply := env.Do("POST", "/v1/timers", fmt.Sprintf(add, kind, "raw", r.URL,
		fmt.Sprintf(`"payload_base64":%q,"content_type":"image/png"`, base64.StdEncoding.EncodeToString(raw))))
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	call := r.Await(t, "raw", 1)[0]
	require.Equal(t, raw, call.Body)
	require.Equal(t, "image/png", call.Header.Get("Content-Type"))
	reply = env.Do("POST", "/v1/timers", fmt.Sprintf(add, kind, "none", r.URL, `"priority":3`))
	require.Equal(t, http.StatusCreated, reply.Status)
	require.Empty(t, r.Await(t, "none", 1)[0].Body)
	require.Empty(t, r.Calls("none")[0].Header.Get("Content-Type"))
}

// The design's own numbers, from Temporal's counters: what one timer costs.
func TestCostOfATimer(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	t.Run("delivered", func(t *testing.T) {
		env.Add(sample.Booking(kind, "1", "3s", r.URL))
		env.Await(kind+"/1", "delivered")
		transitions, events := cost(t, env, kind+"/1")
		require.Equal(t, int64(4), transitions)
		require.Equal(t, int64(6), events)
	})
	t.Run("a retry costs no event", func(t *testing.T) {
		history := map[string]int64{}
		for id, failures := range map[string]int{"once": 1, "thrice": 3} {
			body := sample.Booking(kind, id, "0s", r.On("/"+id, receiver.FailFirst(failures)))
			body["retry"] = testenv.JSON{"steps": []string{"10ms", "10ms", "10ms"}}
			env.Add(body)
			env.Await(kind+"/"+id, "delivered")
			_, history[id] = cost(t, env, kind+"/"+id)
		}
		require.Equal(t, history["once"], history["thrice"])
	})
}

func cost(t *testing.T, env *testenv.Env, path string) (transitions, events int64) {
	described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
	require.NoError(t, err)
	info := described.GetWorkflowExecutionInfo()
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, info.GetStatus())
	return info.GetStateTransitionCount(), info.GetHistoryLength()
}
