package house

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// JSON is a body in the making.
type JSON map[string]any

// Timer is what the API shows of a timer, read by nothing of Wakecall's own.
type Timer struct {
	BusinessType  string    `json:"business_type"`
	BusinessID    string    `json:"business_id"`
	Status        string    `json:"status"`
	DueAt         time.Time `json:"due_at"`
	LatestAt      time.Time `json:"latest_at"`
	Revision      int       `json:"revision"`
	Attempts      int       `json:"attempts"`
	NextAttemptAt time.Time `json:"next_attempt_at"`
	DeliveredAt   time.Time `json:"delivered_at"`
	LatenessMS    *int64    `json:"lateness_ms"`
	WebhookID     string    `json:"webhook_id"`
	CreatedAt     time.Time `json:"created_at"`
	RunID         string    `json:"run_id"`
	FirstRunID    string    `json:"first_run_id"`
	LastFailure   struct {
		Status  int       `json:"status"`
		Message string    `json:"message"`
		At      time.Time `json:"at"`
	} `json:"last_failure"`
	Links struct {
		WebUI string `json:"web_ui"`
	} `json:"links"`
}

// Problem is a problem document.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct {
		Pointer string `json:"pointer"`
		Code    string `json:"code"`
	} `json:"errors"`
	Timer *Timer `json:"timer"`
}

// Reply is an answer of the API.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	t      testing.TB
}

// Timer reads the answer as a timer.
func (r Reply) Timer() (v Timer) { r.into(&v); return v }

// Problem reads the answer as a problem document.
func (r Reply) Problem() (p Problem) {
	r.t.Helper()
	require.Equal(r.t, "application/problem+json", r.Header.Get("Content-Type"), "%s", r.Body)
	r.into(&p)
	require.Equal(r.t, r.Status, p.Status)
	return p
}

// Into reads the answer.
func (r Reply) into(v any) {
	r.t.Helper()
	require.NoError(r.t, json.Unmarshal(r.Body, v), "%s", r.Body)
}

// Into reads the answer as anything.
func (r Reply) Into(v any) { r.t.Helper(); r.into(v) }

// Do makes a call. A body of type string or []byte is sent as it is.
func (h *House) Do(method, path string, body any) Reply {
	h.t.Helper()
	return h.Send(h.Request(method, path, body))
}

// Request makes a request that Send can send.
func (h *House) Request(method, path string, body any) *http.Request {
	h.t.Helper()
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
		require.NoError(h.t, err)
	}
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.URL+path, bytes.NewReader(raw))
	require.NoError(h.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}

// caller is slower than the slowest answer, a wait of 30 seconds.
var caller = &http.Client{Timeout: time.Minute}

// Send sends a request made by hand, and holds the call to the OpenAPI document.
func (h *House) Send(request *http.Request) Reply {
	h.t.Helper()
	response, err := caller.Do(request)
	require.NoError(h.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(h.t, err)
	contract.Hold(h.t, contract.Exchange{Request: request, Status: response.StatusCode, Header: response.Header, Body: raw})
	return Reply{Status: response.StatusCode, Header: response.Header, Body: raw, t: h.t}
}

// Policy puts a policy and expects it to be taken.
func (h *House) Policy(businessType string, policy JSON) {
	h.t.Helper()
	reply := h.Do("PUT", "/v1/policies/"+businessType, policy)
	require.Contains(h.t, []int{200, 201}, reply.Status, "%s", reply.Body)
}

// Add books a timer and expects it to be new.
func (h *House) Add(timer JSON) Timer {
	h.t.Helper()
	reply := h.Do("POST", "/v1/timers", timer)
	require.Equal(h.t, http.StatusCreated, reply.Status, "%s", reply.Body)
	return reply.Timer()
}

// Get shows a timer.
func (h *House) Get(path string) Timer {
	h.t.Helper()
	reply := h.Do("GET", "/v1/timers/"+path, nil)
	require.Equal(h.t, http.StatusOK, reply.Status, "%s", reply.Body)
	return reply.Timer()
}

// Await returns the timer once it has the status.
func (h *House) Await(path, status string) (timer Timer) {
	h.t.Helper()
	require.EventuallyWithT(h.t, func(c *assert.CollectT) {
		timer = h.Get(path)
		require.Equal(c, status, timer.Status)
	}, 30*time.Second, 10*time.Millisecond, "%s should become %s", path, status)
	return timer
}

// AddMany books n timers of a type by one batch, with the ids 0 to n-1 and what
// their policy says.
func (h *House) AddMany(businessType string, n int, delay string) {
	h.t.Helper()
	timers := make([]JSON, n)
	for i := range timers {
		timers[i] = JSON{"business_type": businessType, "business_id": strconv.Itoa(i), "delay": delay}
	}
	var batch struct {
		Results []struct{ Status int }
	}
	reply := h.Do("POST", "/v1/timers/batch", JSON{"timers": timers})
	reply.Into(&batch)
	require.Len(h.t, batch.Results, n)
	for _, result := range batch.Results {
		require.Equal(h.t, http.StatusCreated, result.Status)
	}
}

// AwaitAll returns once the timers that AddMany booked have the status.
func (h *House) AwaitAll(businessType string, n int, status string) {
	h.t.Helper()
	for i := range n {
		h.Await(businessType+"/"+strconv.Itoa(i), status)
	}
}

// Start starts a timer's workflow as it is, past the rules of the API.
func (h *House) Start(spec timer.Spec) {
	h.t.Helper()
	_, err := h.Client.ExecuteWorkflow(h.t.Context(), client.StartWorkflowOptions{
		ID: spec.String(), TaskQueue: workflows.TaskQueue, Memo: map[string]any{workflows.MemoTimer: spec.Memo},
	}, workflows.TypeTimer, spec, workflows.Encode(nil))
	require.NoError(h.t, err)
}
