package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// call sends a signed body to the receiver, as change leaves it.
func call(t *testing.T, r *receiver, path string, change func(*http.Request)) (status int, answer string) {
	t.Helper()
	const body = `{"order":4711}`
	now := time.Now()
	signature, err := r.verifier.Sign("msg_1", now, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	request.Header.Set("webhook-id", "msg_1")
	request.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	request.Header.Set("webhook-signature", signature)
	change(request)
	recorder := httptest.NewRecorder()
	r.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

func TestAWrongSignatureIsRefused(t *testing.T) {
	verifier, err := webhooks.NewWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{calls: map[string]int{}, verifier: verifier}
	for name, wrong := range map[string]func(*http.Request){
		"another signature": func(r *http.Request) { r.Header.Set("webhook-signature", "v1,AAAA") },
		"no signature":      func(r *http.Request) { r.Header.Del("webhook-signature") },
		"another id":        func(r *http.Request) { r.Header.Set("webhook-id", "msg_2") },
		"an old one":        func(r *http.Request) { r.Header.Set("webhook-timestamp", "1000000000") },
	} {
		for _, path := range []string{"/", "/flaky"} {
			status, answer := call(t, r, path, wrong)
			if status != http.StatusUnauthorized || !strings.Contains(answer, "signature") {
				t.Errorf("%s at %s: answered %d %q", name, path, status, answer)
			}
		}
	}
	as := func(*http.Request) {}
	for n, want := range []int{http.StatusServiceUnavailable, http.StatusServiceUnavailable, http.StatusOK} {
		if status, _ := call(t, r, "/flaky", as); status != want {
			t.Errorf("call %d: answered %d, not %d", n+1, status, want)
		}
	}
	if status, _ := call(t, r, "/", as); status != http.StatusOK {
		t.Errorf("answered %d", status)
	}
}

// A test event is no timer, and is printed as what it is.
func TestWhatACallIsAbout(t *testing.T) {
	request := httptest.NewRequest(http.MethodPost, "/", nil)
	test := []byte(`{"type":"wakecall.test","timestamp":"2026-11-26T00:00:00.000Z","data":{"business_type":"demo"}}`)
	for body, want := range map[string]string{
		string(test): "a test of demo, which is no timer", `{"type":"timer.failed"}`: "event timer.failed", "{": "event ",
	} {
		if got := subject(request, []byte(body)); got != want {
			t.Errorf("%s: printed as %q, not %q", body, got, want)
		}
	}
	for name, value := range map[string]string{"Type": "demo", "Id": "hello-1"} {
		request.Header.Set("Wakecall-Business-"+name, value)
	}
	request.Header.Set("Wakecall-Attempt", "1")
	request.Header.Set("Wakecall-Due-At", "2026-11-26T00:00:00.000Z")
	if got, want := subject(request, test), "demo/hello-1  attempt 1  due 2026-11-26T00:00:00.000Z"; got != want {
		t.Errorf("printed as %q, not %q", got, want)
	}
}
