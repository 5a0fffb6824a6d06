package front

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api"
	"github.com/wakecall/wakecall/api/contract"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// Another reader than ours finds the document in order, examples included.
func TestOpenAPIDocumentIsValid(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	require.NoError(t, err)
	require.True(t, document.IsOpenAPI31OrLater())
	require.NoError(t, document.Validate(t.Context(), openapi3.DisableExamplesValidation())) // the linter has them

	ours, err := contract.Wakecall()
	require.NoError(t, err)
	require.NoError(t, ours.CheckExamples())
	text := strings.Replace(string(api.OpenAPI), "examples: [order-close]", "examples: [Order Close]", 1)
	wrong, err := contract.Load([]byte(text))
	require.NoError(t, err)
	require.Error(t, wrong.CheckExamples(), "a wrong example is seen")
}

// alteration makes a call depart from the document.
type alteration struct {
	name  string
	alter func(x *contract.Exchange, body testenv.JSON)
}

// refuse expects that a real call is in order, and is not once it is altered.
func refuse(t *testing.T, x contract.Exchange, alterations []alteration) {
	document, err := contract.Wakecall()
	require.NoError(t, err)
	require.NoError(t, document.Check(x), "the call as it was")
	for _, a := range alterations {
		t.Run(a.name, func(t *testing.T) {
			altered, body := x, testenv.JSON{}
			altered.Header = x.Header.Clone()
			require.NoError(t, json.Unmarshal(x.Body, &body))
			a.alter(&altered, body)
			altered.Body, err = json.Marshal(body)
			require.NoError(t, err)
			departs := document.Check(altered)
			require.Error(t, departs)
			t.Log(departs)
		})
	}
}

func set(name string, value any) func(*contract.Exchange, testenv.JSON) {
	return func(_ *contract.Exchange, body testenv.JSON) { body[name] = value }
}

func drop(name string) func(*contract.Exchange, testenv.JSON) {
	return func(_ *contract.Exchange, body testenv.JSON) { delete(body, name) }
}

func status(code int) func(*contract.Exchange, testenv.JSON) {
	return func(x *contract.Exchange, _ testenv.JSON) { x.Status = code }
}

func header(name, value string) func(*contract.Exchange, testenv.JSON) {
	return func(x *contract.Exchange, _ testenv.JSON) { x.Header.Set(name, value) }
}

// exchange makes a call and shows it as the contract sees it.
func exchange(env *testenv.Env, method, path string, body any) contract.Exchange {
	request := env.Request(method, path, body)
	reply := env.Send(request)
	return contract.Exchange{Request: request, Status: reply.Status, Header: reply.Header, Body: reply.Body}
}

// The negative controls: what departs from the document is seen.
func TestOpenAPIRefusesAnotherAnswer(t *testing.T) {
	t.Parallel()
	env := testenv.OpenWith(t, testenv.Addr, testenv.Settings())
	kind := sample.Type(t)
	path, body := "/v1/timers/"+kind+"/1", sample.Booking(kind, "1", "1h", "https://example.com/")
	t.Run("a new timer", func(t *testing.T) {
		refuse(t, exchange(env, "POST", "/v1/timers", body), []alteration{
			{"wrong type", set("attempts", "0")},
			{"wrong word", set("status", "lost")},
			{"null", set("latest_at", nil)},
			{"missing field", drop("webhook_id")},
			{"extra field", set("card", testenv.JSON{})},
			{"undeclared status", status(http.StatusTeapot)},
			{"content type", header("Content-Type", "text/plain")},
			{"no location", header("Location", "")},
			{"no request id", header("X-Request-Id", "")},
		})
	})
	t.Run("a problem", func(t *testing.T) {
		body["delay"] = "2h"
		refuse(t, exchange(env, "POST", "/v1/timers", body), []alteration{
			{"unknown type", set("type", "urn:wakecall:problem:other")},
			{"type of another status", set("type", "urn:wakecall:problem:not-found")},
			{"no timer", drop("timer")},
			{"undeclared for the call", status(http.StatusNotFound)},
		})
	})
	t.Run("no body", func(t *testing.T) {
		x := exchange(env, "GET", path, nil)
		x.Request = env.Request("DELETE", "/v1/policies/"+kind, nil)
		x.Status = http.StatusNoContent
		document, err := contract.Wakecall()
		require.NoError(t, err)
		require.Error(t, document.Check(x), "a body where none is declared")
		x.Body = nil
		require.NoError(t, document.Check(x))
	})
}

// A request that was taken is held to the document too; one that was refused
// may be wrong.
func TestOpenAPIRefusesAnotherRequest(t *testing.T) {
	t.Parallel()
	env := testenv.OpenWith(t, testenv.Addr, testenv.Settings())
	path := "/v1/timers/" + sample.Type(t) + "/"
	document, err := contract.Wakecall()
	require.NoError(t, err)
	const good = `{"delay":"1h","callback":{"url":"https://example.com/"}}`
	taken := exchange(env, "PUT", path+"1", good)
	require.Equal(t, http.StatusCreated, taken.Status)
	refused := exchange(env, "PUT", path+"1", `{}`)
	require.Equal(t, http.StatusUnprocessableEntity, refused.Status)

	check := func(path, body string) error {
		taken.Request = env.Request("PUT", path, body)
		refused.Request = taken.Request
		require.NoError(t, document.Check(refused), "%s %s", path, body)
		return document.Check(taken)
	}
	for name, body := range map[string]string{
		"unknown field": `{"delay":"1h","dealy":"1h"}`,
		"two times":     `{"delay":"1h","due_at":"2026-11-21T09:30:00Z"}`,
		"no zone":       `{"due_local":"2030-01-31T09:00"}`,
		"wrong type":    `{"delay":3600}`,
		"not JSON":      `{`,
	} {
		require.Error(t, check(path+"1", body), name)
	}
	for _, target := range []string{"1?wait=soon", "1?wait=", "1?what=1", "a%20b"} {
		require.Error(t, check(path+target, good), target)
	}
	for _, target := range []string{"1?wait=5s", "a%40b"} {
		require.NoError(t, check(path+target, good), target)
	}
}

// witness notes that a test would have failed.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Errorf(string, ...any) { w.failed = true }

// Every call of every test of this package is held to the document: Send does
// it, and Try to a process.
func TestOpenAPIHoldsEveryCall(t *testing.T) {
	t.Parallel()
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "x")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"okay"}`)
	}))
	t.Cleanup(liar.Close)
	w := &witness{TB: t}
	env := testenv.OpenWith(w, testenv.Addr, testenv.Settings())
	env.Do("GET", "/livez", nil)
	require.False(t, w.failed, "Wakecall answers as it should")
	env.URL = liar.URL
	env.Do("GET", "/livez", nil)
	require.True(t, w.failed)

	w = &witness{TB: t}
	_, _, err := process.API{T: w, URL: liar.URL}.Try("GET", "/livez", nil)
	require.NoError(t, err)
	require.True(t, w.failed)
}

// What a receiver is sent is held to the document's webhooks: every receiver of
// this package does it.
func TestOpenAPIHoldsEveryRing(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	r.On("/call", receiver.Status(http.StatusGone))
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + "/call"}, "signing_secrets": []string{sample.Secret()}, "alert": testenv.JSON{"url": r.URL + "/alert"},
	})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "recurrence": testenv.JSON{"every": "1h", "max_occurrences": 1}})
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers/"+kind+"/1/fire", nil).Status)
	ring, alert := r.AwaitTo(t, "/call", 1)[0], r.AwaitTo(t, "/alert", 1)[0]
	require.NotEmpty(t, ring.Header.Get("Wakecall-Occurrence"))
	document, err := contract.Wakecall()
	require.NoError(t, err)
	for _, call := range []receiver.Call{ring, alert} {
		require.NoError(t, document.CheckRing(call.Header, call.Body))
		for name, wrong := range map[string]func(http.Header){
			"no id":           func(h http.Header) { h.Del("webhook-id") },
			"no signature":    func(h http.Header) { h.Set("webhook-signature", "v2,x") },
			"another header":  func(h http.Header) { h.Set("Wakecall-Mood", "x") },
			"no time":         func(h http.Header) { h.Set("webhook-timestamp", "now") },
			"no type":         func(h http.Header) { h.Del("Wakecall-Business-Type") },
			"occurrence zero": func(h http.Header) { h.Set("Wakecall-Occurrence", "0") },
		} {
			header := call.Header.Clone()
			wrong(header)
			require.Error(t, document.CheckRing(header, call.Body), name)
		}
	}
	for _, body := range []string{
		`{}`, strings.Replace(string(alert.Body), "timer.failed", "timer.lost", 1), strings.Replace(string(alert.Body), `"due_at"`, `"due"`, 1),
	} {
		require.Error(t, document.CheckRing(alert.Header, []byte(body)), body)
	}
	// The catalogue has each event as it is sent, also those that take long to come about.
	at := wire.At(time.Now())
	for event, data := range map[timer.EventType]timer.EventData{
		timer.EventStreamWaits:  {BusinessType: kind, Waiting: 3, WaitingSince: at},
		timer.EventOverdue:      {BusinessType: kind, Overdue: 2},
		timer.EventBackPressure: {BusinessType: kind, BackPressure: &policy.BackPressure{Since: at, Until: at, Status: 429}},
		timer.EventDelivered:    {BusinessType: kind, BusinessID: "1", DueAt: at, Attempts: 1, WebhookID: ring.Header.Get("webhook-id"), DeliveredAt: at, LatenessMS: new(int64)},
		timer.EventExpired: {
			BusinessType: kind, BusinessID: "1", DueAt: at, Attempts: 1, WebhookID: ring.Header.Get("webhook-id"),
			LastFailure: delivery.Answer{Class: delivery.Nacked, Detail: "out of stock"}.Failure(at),
		},
	} {
		sent, err := json.Marshal(timer.Event{Type: event, At: at, Data: data}.Sent())
		require.NoError(t, err)
		require.NoError(t, document.CheckRing(alert.Header, sent), "%s", sent)
		data.Overdue += 1000
		data.Waiting += 1000
		wrong, err := json.Marshal(timer.Event{Type: event, At: at, Data: data}.Sent())
		require.NoError(t, err)
		require.Error(t, document.CheckRing(alert.Header, wrong), "fields of another event")
	}
}

// A probe that somebody ended is started again by the next question.
func TestReadinessHealsByItself(t *testing.T) {
	t.Parallel()
	env, _, _ := testenv.Start(t)
	ready := func(when string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			assert.Equal(c, http.StatusOK, env.Do("GET", "/readyz", nil).Status)
		}, testenv.Patience, 50*time.Millisecond, when)
	}
	ready("before")
	require.NoError(t, env.Client.TerminateWorkflow(t.Context(), workflows.ProbeID, "", "by hand"))
	answers := func(when string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NoError(c, env.Engine.Namespace.Ready(t.Context())) }, testenv.Patience, 50*time.Millisecond, when)
	}
	answers("terminated")
	require.NoError(t, env.Client.CancelWorkflow(t.Context(), workflows.ProbeID, ""))
	answers("cancelled")
	ready("after")
}
