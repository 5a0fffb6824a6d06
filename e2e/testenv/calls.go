package testenv

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/workflows"
)

// The terms of the API, for the tests in this process.
type (
	// JSON is a JSON body to send.
	JSON = contract.JSON
	// Timer is a timer in the API's JSON.
	Timer = contract.Timer
	// Problem is a problem document.
	Problem = contract.Problem
)

// Reply is an answer of the API.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	t      testing.TB
}

// Timer reads the answer as a timer.
func (r Reply) Timer() (v Timer) { r.Into(&v); return v }

// Problem reads the answer as a problem document.
func (r Reply) Problem() (p Problem) {
	r.t.Helper()
	require.Equal(r.t, "application/problem+json", r.Header.Get("Content-Type"), "%s", r.Body)
	r.Into(&p)
	require.Equal(r.t, r.Status, p.Status)
	return p
}

// Into reads the answer as anything.
func (r Reply) Into(v any) {
	r.t.Helper()
	require.NoError(r.t, json.Unmarshal(r.Body, v), "%s", r.Body)
}

// Do makes a call. It sends a body of type string or []byte unchanged. It waits for the effect of a
// change, and repeats one that Temporal did not answer in time, as clients do.
func (e *Env) Do(method, path string, body any) Reply {
	e.t.Helper()
	if process.Changes(method, path) {
		reply, _ := e.repeated(method, process.Patiently(method, path), body)
		return reply
	}
	return e.Send(e.Request(method, path, body))
}

// Request makes a request for Send. A nil [JSON] is no body.
func (e *Env) Request(method, path string, body any) *http.Request {
	e.t.Helper()
	if fields, are := body.(JSON); are && fields == nil {
		body = nil
	}
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	case []byte:
		raw = b
	default:
		var err error
		raw, err = json.Marshal(b)
		require.NoError(e.t, err)
	}
	request, err := http.NewRequestWithContext(e.t.Context(), method, e.URL+path, bytes.NewReader(raw))
	require.NoError(e.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}

// Send sends a request made by hand, and checks the call against the OpenAPI document.
func (e *Env) Send(request *http.Request) Reply {
	e.t.Helper()
	response, err := contract.Calls(e.t).Do(request)
	require.NoError(e.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(e.t, err)
	return Reply{Status: response.StatusCode, Header: response.Header, Body: raw, t: e.t}
}

// Wakecall is the Go client of the API. It makes each call once, and checks it against the
// OpenAPI document.
func (e *Env) Wakecall() *wakecall.Client {
	return wakecall.New(wakecall.Options{URL: e.URL, HTTP: contract.Calls(e.t), Tries: 1})
}

// repeated makes a call until Temporal answers in time, as clients do: on a busy machine it may
// not. It returns the last answer, and whether it was not the first.
func (e *Env) repeated(method, path string, body any) (reply Reply, again bool) {
	e.t.Helper()
	for until := time.Now().Add(Patience); ; again = true {
		if reply = e.Send(e.Request(method, path, body)); reply.Status != http.StatusServiceUnavailable || time.Now().After(until) {
			return reply, again
		}
	}
}

// Policy puts a policy and expects it to be accepted.
func (e *Env) Policy(businessType string, policy JSON) {
	e.t.Helper()
	reply, _ := e.repeated("PUT", "/v1/policies/"+businessType, policy)
	require.Less(e.t, reply.Status, http.StatusMultipleChoices, "%s", reply.Body)
}

// Add books a timer and expects it to be new.
func (e *Env) Add(timer JSON) Timer {
	e.t.Helper()
	reply, again := e.repeated("POST", "/v1/timers", timer)
	if again && reply.Status == http.StatusConflict { // the first call had taken effect, and the timer has rung
		problem := reply.Problem()
		require.Contains(e.t, problem.Type, string(wire.AlreadyFinished), "%s", reply.Body)
		return *problem.Timer
	}
	if !again || reply.Status != http.StatusOK { // else the first call had taken effect
		require.Equal(e.t, http.StatusCreated, reply.Status, "%s", reply.Body)
	}
	return reply.Timer()
}

// Get shows a timer.
func (e *Env) Get(path string) Timer {
	e.t.Helper()
	reply, _ := e.repeated("GET", "/v1/timers/"+path, nil)
	require.Equal(e.t, http.StatusOK, reply.Status, "%s", reply.Body)
	return reply.Timer()
}

// Await returns the timer once it has the status.
func (e *Env) Await(path, status string) (timer Timer) {
	e.t.Helper()
	require.EventuallyWithT(e.t, func(c *assert.CollectT) {
		timer = e.Get(path)
		require.Equal(c, status, timer.Status)
	}, Patience, Interval, "%s should become %s", path, status)
	return timer
}

// AddMany books n timers of a type in one batch, with the ids 0 to n-1 and their policy's
// defaults.
func (e *Env) AddMany(businessType string, n int, delay time.Duration) {
	e.t.Helper()
	bookings := make([]wakecall.Booking, n)
	for i := range bookings {
		bookings[i].Key = wire.Key{BusinessType: businessType, BusinessID: strconv.Itoa(i)}
		bookings[i].Delay = wakecall.After(delay)
	}
	e.AddBatch(bookings)
}

// AddBatch books timers in one batch.
func (e *Env) AddBatch(bookings []wakecall.Booking) {
	e.t.Helper()
	sample.BookBatch(e.t, e.Wakecall(), bookings)
}

// AwaitAll returns once the timers with the ids 0 to n-1 have the status.
func (e *Env) AwaitAll(businessType string, n int, status string) {
	e.t.Helper()
	for i := range n {
		e.Await(businessType+"/"+strconv.Itoa(i), status)
	}
}

// Start starts a timer's workflow directly, without the checks of the API.
func (e *Env) Start(spec timer.Spec) {
	e.t.Helper()
	_, err := e.Client.ExecuteWorkflow(e.t.Context(), client.StartWorkflowOptions{
		ID: spec.String(), TaskQueue: workflows.TaskQueue, Memo: map[string]any{workflows.MemoTimer: spec.Memo},
	}, workflows.TypeTimer, spec, workflows.Encode(nil))
	require.NoError(e.t, err)
}

// SendIf makes a call under a condition, and waits for the effect of a change.
func SendIf(env *Env, tag string, request *http.Request) Reply {
	env.t.Helper()
	request.Header.Set("If-Match", tag)
	if request.Method != http.MethodGet && strings.HasPrefix(request.URL.Path, "/v1/timers/") {
		request.URL.RawQuery = "wait=30s" // a busy machine is slow to answer
	}
	return env.Send(request)
}

// Listed are the timers on the first page of a list.
func Listed(env *Env, filter url.Values) []Timer {
	var page struct{ Timers []Timer }
	env.Do("GET", "/v1/timers?"+filter.Encode(), nil).Into(&page)
	return page.Timers
}
