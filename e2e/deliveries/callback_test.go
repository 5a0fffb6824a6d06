package deliveries

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

func TestCallbackIsSigned(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	older, newer := sample.Secret(), sample.Secret()
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "signing_secrets": []string{newer, older}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s", "payload": testenv.JSON{"total": 12.5}})
	call := r.Await(t, "1", 1)[0]
	for _, valid := range []string{newer, older} {
		verifier, err := webhooks.NewWebhook(valid)
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(call.Body, call.Header), "both secrets are valid during a rotation")
	}
	stranger, err := webhooks.NewWebhook(sample.Secret())
	require.NoError(t, err)
	require.Error(t, stranger.Verify(call.Body, call.Header))
	verifier, err := webhooks.NewWebhook(newer)
	require.NoError(t, err)
	require.Error(t, verifier.Verify(append(call.Body, ' '), call.Header), "another body is another signature")
}

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

func TestAnotherHostIsNotSentThePolicysHeaders(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": "https://example.com/", "headers": testenv.JSON{"Authorization": "Bearer x"}}})
	env.Add(sample.Booking(kind, "1", "0s", r.URL))
	require.Empty(t, r.Await(t, "1", 1)[0].Header.Get("Authorization"))
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

func TestVerdicts(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	elsewhere := receiver.New(t)
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL, "timeout": "500ms"}, "retry": testenv.JSON{"steps": []string{"20ms", "20ms"}},
	})
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	cases := map[string]struct {
		answer receiver.Answer
		status string
		calls  int
		detail string
	}{
		"201":     {receiver.Status(201), "delivered", 1, ""},
		"204":     {receiver.Status(204), "delivered", 1, ""},
		"400":     {receiver.Status(400), "failed", 3, "HTTP 400"},
		"404":     {receiver.Status(404), "failed", 3, "HTTP 404"},
		"408":     {receiver.Status(408), "failed", 3, "HTTP 408"},
		"410":     {receiver.Status(410), "failed", 1, "HTTP 410"},
		"429":     {receiver.Status(429), "failed", 3, "HTTP 429"},
		"500":     {receiver.Status(500), "failed", 3, "HTTP 500"},
		"recover": {receiver.FailFirst(2), "delivered", 3, ""},
		"302": {func(w http.ResponseWriter, req *http.Request, _ int) {
			http.Redirect(w, req, elsewhere.URL, http.StatusFound)
		}, "failed", 3, "HTTP 302"},
		"no-retry": {func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Wakecall-No-Retry", "true")
			w.WriteHeader(http.StatusInternalServerError)
		}, "failed", 1, "HTTP 500, receiver asked for no retry"},
		"hang": {func(_ http.ResponseWriter, req *http.Request, _ int) {
			select {
			case <-hang:
			case <-req.Context().Done():
			}
		}, "failed", 3, "timeout"},
		"reset": {func(w http.ResponseWriter, _ *http.Request, _ int) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, "failed", 3, "broken_answer"},
		"endless": {func(w http.ResponseWriter, req *http.Request, _ int) {
			w.WriteHeader(http.StatusOK)
			for req.Context().Err() == nil {
				if _, err := io.WriteString(w, "0123456789abcdef"); err != nil {
					return
				}
			}
		}, "delivered", 1, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env.Add(testenv.JSON{"business_type": kind, "business_id": name, "delay": "0s", "callback": testenv.JSON{"url": r.On("/"+name, c.answer)}})
			done := env.Await(kind+"/"+name, c.status)
			calls := r.Calls(name)
			if name == "reset" { // on a kept connection, which calls of the others may have left, it is sent once more
				calls = slices.CompactFunc(calls, func(a, b receiver.Call) bool {
					return a.Header.Get("Wakecall-Attempt") == b.Header.Get("Wakecall-Attempt")
				})
			}
			require.Len(t, calls, c.calls)
			require.Equal(t, c.calls, done.Attempts)
			for i, call := range calls {
				require.Equal(t, strconv.Itoa(i+1), call.Header.Get("Wakecall-Attempt"))
				require.Equal(t, done.WebhookID, call.Header.Get("webhook-id"))
			}
			if c.status == "failed" {
				require.Equal(t, c.detail, done.LastFailure.Message)
			}
			require.Empty(t, elsewhere.Calls(name), "a redirect is never followed")
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

// An address that no callback may reach is refused where it is named, and a name
// that resolves to one in the dialer.
func TestForbiddenAddressesAreRefused(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(sample.Booking(kind, "there", "1h", r.URL))
	for _, url := range []string{
		"http://10.0.0.1/", "http://169.254.169.254/latest/", "http://[::1]:9000/", "http://[::ffff:10.0.0.1]/",
		"http://[fd00:ec2::254]/", "http://168.63.129.16/", "http://100.100.100.200/", "http://[fe80::1]/", "http://0.0.0.0/",
		"http://2130706433/", "http://0xa9fea9fe/", "http://0251.0376.0251.0376/", "http://169.254.169.254./", "http://10.1/",
	} {
		callback := testenv.JSON{"callback": testenv.JSON{"url": url}}
		for what, reply := range map[string]testenv.Reply{
			"booked":      env.Do("POST", "/v1/timers", sample.Booking(kind, "new", "1h", url)),
			"put":         env.Do("PUT", "/v1/timers/"+kind+"/new", testenv.JSON{"delay": "1h", "callback": callback["callback"]}),
			"changed":     env.Do("PATCH", "/v1/timers/"+kind+"/there", callback),
			"policy":      env.Do("PUT", "/v1/policies/"+kind, callback),
			"policy part": env.Do("PATCH", "/v1/policies/"+kind, callback),
		} {
			require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s %s", what, url)
			require.Equal(t, "/callback/url", reply.Problem().Errors[0].Pointer, "%s %s", what, url)
		}
		reply := env.Do("PUT", "/v1/policies/"+kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "alert": testenv.JSON{"url": url}})
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, url)
		require.Equal(t, "/alert/url", reply.Problem().Errors[0].Pointer, url)
	}
	body := sample.Booking(kind, "", "-1h", "http://10.0.0.1/")
	require.Len(t, env.Do("POST", "/v1/timers", body).Problem().Errors, 3, "with all else that is wrong")
	body["priority"] = "high"
	require.Len(t, env.Do("POST", "/v1/timers", body).Problem().Errors, 4, "and with what cannot be read")
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/new", nil).Status, "nothing was booked")
}

// A change of one field of the callback leaves the others, and none leaves a
// timer that nobody can be called for.
func TestCallbackIsChangedFieldByField(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	patch := func(id string, callback, more testenv.JSON) testenv.Reply {
		body := testenv.JSON{"callback": callback}
		maps.Copy(body, more)
		return env.Do("PATCH", "/v1/timers/"+kind+"/"+id+"?wait=30s", body)
	}
	body := sample.Booking(kind, "own", "1h", r.URL)
	body["callback"] = testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-A": "one", "X-B": "two"}}
	env.Add(body)
	require.Equal(t, http.StatusOK, patch("own", testenv.JSON{"timeout": "5s"}, nil).Status)
	moved := patch("own", testenv.JSON{"url": "http://elsewhere.example/", "headers": testenv.JSON{"X-B": "four"}}, nil)
	require.Equal(t, http.StatusUnprocessableEntity, moved.Status)
	require.Len(t, moved.Problem().Errors, 1)
	require.Equal(t, "/callback/headers/X-A", moved.Problem().Errors[0].Pointer)
	require.Equal(t, http.StatusOK, patch("own", testenv.JSON{"url": r.URL + "/path", "headers": testenv.JSON{"X-B": "three"}}, testenv.JSON{"delay": "0s"}).Status)
	call := r.Await(t, "own", 1)[0]
	require.Equal(t, "/path", call.Path)
	require.Equal(t, "one", call.Header.Get("X-A"))
	require.Equal(t, "three", call.Header.Get("X-B"))

	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "policys", "delay": "1h"})
	require.Equal(t, http.StatusOK, patch("policys", testenv.JSON{"timeout": "5s"}, nil).Status)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	refused := patch("policys", testenv.JSON{"timeout": "6s"}, nil)
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)
	require.Equal(t, "/callback/url", refused.Problem().Errors[0].Pointer)
	require.Equal(t, http.StatusOK, patch("policys", testenv.JSON{"url": r.URL}, testenv.JSON{"delay": "0s"}).Status)
	env.Await(kind+"/policys", "delivered")
}

func TestLadders(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url := r.On("/never", receiver.Status(500))
	for name, c := range map[string]struct {
		retry testenv.JSON
		waits []time.Duration
	}{
		"steps":       {testenv.JSON{"steps": []string{"300ms", "100ms", "200ms"}}, []time.Duration{300e6, 100e6, 200e6}},
		"exponential": {testenv.JSON{"initial": "100ms", "multiplier": 2, "max_interval": "300ms", "max_attempts": 4}, []time.Duration{100e6, 200e6, 300e6}},
		"single":      {testenv.JSON{"steps": []string{}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := sample.Booking(kind, name, "0s", url)
			body["retry"] = c.retry
			env.Add(body)
			env.Await(kind+"/"+name, "failed")
			calls := r.Calls(name)
			require.Len(t, calls, 1+len(c.waits))
			for i, wait := range c.waits {
				require.GreaterOrEqual(t, calls[i+1].At.Sub(calls[i].At), wait-wait/10, "wait %d", i)
			}
		})
	}
}

func TestRetryAfterOutweighsTheLadder(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url := r.On("/later", func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	body := sample.Booking(kind, "1", "0s", url)
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Add(body)
	calls := r.Await(t, "1", 2)
	require.GreaterOrEqual(t, calls[1].At.Sub(calls[0].At), 900*time.Millisecond)
}

func TestLatestTime(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url := r.On("/ask", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	body := sample.Booking(kind, "asked", "0s", url)
	body["expires_after"], body["retry"] = "10s", testenv.JSON{"steps": []string{"10ms", "10ms"}}
	booked := env.Add(body)
	require.Equal(t, 10*time.Second, booked.LatestAt.Sub(booked.DueAt))
	done := env.Await(kind+"/asked", "expired")
	require.Equal(t, 1, done.Attempts)
	require.Len(t, r.Calls("asked"), 1, "nobody is called after the latest time")
	require.False(t, time.Now().Before(booked.LatestAt), "a timer does not expire before its time")

	kind += ".default" // the worker has not looked for its policy yet, and knows of none that is missing
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url}, "expires_after": "700ms", "retry": testenv.JSON{"steps": []string{"1h"}}})
	late := env.Add(testenv.JSON{"business_type": kind, "business_id": "default", "delay": "0s"})
	require.Equal(t, 700*time.Millisecond, late.LatestAt.Sub(late.DueAt), "the policy's default")
	env.Await(kind+"/default", "expired")
}
