package deliveries

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
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

// A verdict is the same for a first attempt, that a workflow's task makes, and for a retry.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL, "timeout": "500ms"}, "retry": testenv.JSON{"steps": []string{"20ms", "20ms"}},
	})
	for name, c := range map[string]struct {
		answer receiver.Answer
		status string
		calls  int
		detail string
	}{
		"204":     {receiver.Status(204), "delivered", 1, ""},
		"404":     {receiver.Status(404), "failed", 3, "HTTP 404"},
		"410":     {receiver.Status(410), "failed", 1, "HTTP 410"},
		"recover": {receiver.FailFirst(2), "delivered", 3, ""},
		"hang":    {func(_ http.ResponseWriter, req *http.Request, _ int) { <-req.Context().Done() }, "failed", 3, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env.Add(testenv.JSON{"business_type": kind, "business_id": name, "delay": "0s", "callback": testenv.JSON{"url": r.On("/"+name, c.answer)}})
			done := env.Await(kind+"/"+name, c.status)
			calls := r.Calls(name)
			require.Len(t, calls, c.calls)
			require.Equal(t, c.calls, done.Attempts)
			for i, call := range calls {
				require.Equal(t, strconv.Itoa(i+1), call.Header.Get("Wakecall-Attempt"))
				require.Equal(t, done.WebhookID, call.Header.Get("webhook-id"))
			}
			if c.status == "failed" {
				require.Equal(t, c.detail, done.LastFailure.Message)
			}
		})
	}
}

func TestTroubleHasAClass(t *testing.T) {
	t.Parallel()
	env, _, kind := testenv.Start(t)
	for url, want := range map[string]string{
		"http://" + loopback.Addr() + "/": "connect_failure",
		"http://nobody.invalid/":          "dns_failure",
	} {
		body := sample.Booking(kind, strconv.Itoa(len(url))+want, "0s", url)
		body["retry"] = testenv.JSON{"steps": []string{}}
		timer := env.Add(body)
		require.Equal(t, want, env.Await(kind+"/"+timer.BusinessID, "failed").LastFailure.Message, url)
	}
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

// mutual starts a receiver over TLS that demands a client certificate. Its own
// certificate, signed by itself, is the one that it takes.
func mutual(t *testing.T, r *receiver.Receiver) (url string, settings testenv.JSON) {
	server := httptest.NewUnstartedServer(r)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return server.URL, testenv.JSON{
		"ca": certificate, "client_certificate": certificate,
		"client_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
	}
}

// A policy brings a private CA and a client certificate; its key is never shown,
// and kept where it is sent back as it was shown.
func TestPolicyBringsItsTLS(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url, settings := mutual(t, r)
	path := "/v1/policies/" + kind
	policy := testenv.JSON{"callback": testenv.JSON{"url": url}, "retry": testenv.JSON{"steps": []string{}}}
	ring := func(id, status string) testenv.Timer {
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "300ms"}) // the policy is cached for 100ms
		return env.Await(kind+"/"+id, status)
	}
	env.Policy(kind, policy)
	require.Contains(t, ring("without", "failed").LastFailure.Message, "tls_unknown_issuer: ")

	policy["tls"] = settings
	env.Policy(kind, policy)
	ring("with", "delivered")
	shown := env.Do("GET", path, nil)
	require.NotContains(t, string(shown.Body), "PRIVATE KEY")
	var read testenv.JSON
	require.NoError(t, json.Unmarshal(shown.Body, &read))
	require.Equal(t, map[string]any{"ca": settings["ca"], "client_certificate": settings["client_certificate"], "client_key": "***"}, read["tls"])
	require.Equal(t, http.StatusOK, env.Do("PUT", path, read).Status)
	require.Equal(t, http.StatusOK, env.Do("PATCH", path, testenv.JSON{"tls": testenv.JSON{"client_key": "***"}}).Status)
	ring("kept", "delivered")

	own := sample.Booking(kind, "own", "0s", url)
	own["retry"] = testenv.JSON{"steps": []string{}}
	env.Add(own)
	require.Contains(t, env.Await(kind+"/own", "failed").LastFailure.Message, "tls_client_certificate: ", "the certificate is for the policy's receiver")

	require.Equal(t, http.StatusOK, env.Do("PATCH", path, testenv.JSON{"tls": nil}).Status)
	ring("removed", "failed")
	versions := env.Do("GET", path+"/versions", nil)
	require.NotContains(t, string(versions.Body), "PRIVATE KEY")
	history := env.Client.GetWorkflowHistory(t.Context(), workflows.PolicyID(kind), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		require.NotContains(t, event.String(), "PRIVATE KEY", "what Temporal keeps is sealed")
	}
}
