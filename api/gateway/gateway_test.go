package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	httpsend "github.com/wakecall/wakecall/activities/send/http"
	"github.com/wakecall/wakecall/api"
	"github.com/wakecall/wakecall/api/contract"
	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/outcomes"
	"github.com/wakecall/wakecall/api/streams"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/health"
	coreoutcomes "github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/testrings"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/internal/seal"
)

// key seals secrets, in all gateways: they share what is stored.
var key = seal.NewKey()

// Gateway is the API on an engine on a Temporal in memory, where a worker carries out what is
// asked of timers as soon as it is asked.
type Gateway struct {
	t testing.TB
	// URL is the API's.
	URL      string
	Engine   *engine.Engine
	Temporal *enginetest.Temporal
	server   *api.Server
}

// unknownLateness knows of no attempts.
type unknownLateness struct{}

func (unknownLateness) Lateness(context.Context, []string, coreoutcomes.Span) ([]coreoutcomes.Lateness, coreoutcomes.Source) {
	return nil, coreoutcomes.Unknown
}

// kinds counts the business types handed out.
var kinds atomic.Int64

// Open opens a gateway on a Temporal of its own, and names a business type.
func Open(t testing.TB) (*Gateway, string) {
	temporal := &enginetest.Temporal{}
	enginetest.Worker{On: temporal}.Work(t)
	return Beside(t, temporal), "kind-" + strconv.FormatInt(kinds.Add(1), 10)
}

// Beside opens a gateway on a Temporal that others use as well.
func Beside(t testing.TB, temporal *enginetest.Temporal) *Gateway {
	t.Helper()
	box, err := seal.New(key)
	require.NoError(t, err)
	telemetry, err := observe.NewTelemetry("test")
	require.NoError(t, err)
	reach := delivery.Reach{Address: httpsend.Reach([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})}
	e := engine.New(engine.Config{
		Client: temporal, Namespace: "default", Box: box, WebUI: "http://ui.test", PolicyTTL: 100 * time.Millisecond,
		Limiter: &quota.Local{}, Reach: reach,
		Failover: failover.Config{Worker: "gateway", About: func() health.About { return health.About{Role: health.Gateway} }},
	})
	server := api.New(api.Options{
		Timers: timers.Options{
			Timers: e.Timers, Series: e.Series, Pauser: e.Timers, Failures: e.Failures,
			Attempts: e.Attempts, Histories: e.Histories, Stats: e.Stats, Lateness: e.Forecasts,
		},
		Policies: struct {
			*policies.Policies
			*testrings.TestRings
		}{e.Policies, e.TestRings},
		Emergencies: e.Emergencies, Bulk: e.Bulk, Deliveries: e.Deliveries, Forecasts: e.Forecasts,
		Reports:    api.Reports{Ledgers: e.Ledgers, Outcomes: outcomes.Options{Outcomes: e.Outcomes, Lateness: unknownLateness{}}, Processes: e.Processes},
		Dispatches: dispatches.Options{Dispatches: e.Dispatches, Controls: e.Dispatches, Failures: e.Dispatches},
		Streams:    streams.Options{Policy: e.Policies.Policy},
		Operations: operations.Options{Ready: func(context.Context) error { return nil }, Metrics: telemetry.Handler(), Version: "test"},
		Front: front.Options{
			Telemetry: telemetry, Auth: auth.Anyone(),
			Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
		},
		Reach: reach, EndWaits: e.EndWaits,
	})
	served := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		served.Close()
		_ = telemetry.Shutdown(context.WithoutCancel(t.Context()))
	})
	return &Gateway{t: t, URL: served.URL, Engine: e, Temporal: temporal, server: server}
}

// Serve runs the API on a listener of its own, with the server's limits on slow, large and idle
// connections; at [Gateway.URL] there are none.
func (g *Gateway) Serve() (addr string) {
	g.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(g.t, err)
	served := make(chan error, 1)
	go func() { served <- g.server.Serve(listener) }()
	g.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = g.server.Shutdown(ctx)
		require.NoError(g.t, <-served)
	})
	return listener.Addr().String()
}

// JSON is a body in the making.
type JSON map[string]any

// Timer is what the API shows of a timer, read by nothing of Wakecall's own.
type Timer struct {
	BusinessType string    `json:"business_type"`
	BusinessID   string    `json:"business_id"`
	Status       string    `json:"status"`
	DueAt        time.Time `json:"due_at"`
	LatestAt     time.Time `json:"latest_at"`
	Revision     int       `json:"revision"`
	WebhookID    string    `json:"webhook_id"`
	CreatedAt    time.Time `json:"created_at"`
	RunID        string    `json:"run_id"`
}

// Problem is a problem document.
type Problem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct {
		Pointer string `json:"pointer"`
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

// Into reads the answer as anything.
func (r Reply) Into(v any) {
	r.t.Helper()
	require.NoError(r.t, json.Unmarshal(r.Body, v), "%s", r.Body)
}

// Timer reads the answer as a timer.
func (r Reply) Timer() (v Timer) { r.t.Helper(); r.Into(&v); return v }

// Problem reads the answer as a problem document.
func (r Reply) Problem() (p Problem) {
	r.t.Helper()
	require.Equal(r.t, "application/problem+json", r.Header.Get("Content-Type"), "%s", r.Body)
	r.Into(&p)
	require.Equal(r.t, r.Status, p.Status)
	return p
}

// Request makes a request that Send can send. A body of type string is sent as it is.
func (g *Gateway) Request(method, path string, body any) *http.Request {
	g.t.Helper()
	var raw []byte
	switch b := body.(type) {
	case nil:
	case string:
		raw = []byte(b)
	default:
		var err error
		raw, err = json.Marshal(b)
		require.NoError(g.t, err)
	}
	request, err := http.NewRequestWithContext(g.t.Context(), method, g.URL+path, bytes.NewReader(raw))
	require.NoError(g.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request
}

// Send sends a request made by hand. The call must conform to the OpenAPI document.
func (g *Gateway) Send(request *http.Request) Reply {
	g.t.Helper()
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(g.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(g.t, err)
	contract.Hold(g.t, contract.Exchange{Request: request, Status: response.StatusCode, Header: response.Header, Body: raw})
	return Reply{Status: response.StatusCode, Header: response.Header, Body: raw, t: g.t}
}

// SendIf makes a call under a condition.
func (g *Gateway) SendIf(tag string, request *http.Request) Reply {
	g.t.Helper()
	request.Header.Set("If-Match", tag)
	return g.Send(request)
}

// Do makes a call.
func (g *Gateway) Do(method, path string, body any) Reply {
	g.t.Helper()
	return g.Send(g.Request(method, path, body))
}

// Policy puts a policy and expects it to be taken.
func (g *Gateway) Policy(kind string, policy JSON) {
	g.t.Helper()
	reply := g.Do("PUT", "/v1/policies/"+kind, policy)
	require.Less(g.t, reply.Status, http.StatusMultipleChoices, "%s", reply.Body)
}

// Add books a timer and expects it to be new.
func (g *Gateway) Add(timer JSON) Timer {
	g.t.Helper()
	reply := g.Do("POST", "/v1/timers", timer)
	require.Equal(g.t, http.StatusCreated, reply.Status, "%s", reply.Body)
	return reply.Timer()
}

// Get shows a timer.
func (g *Gateway) Get(path string) Timer {
	g.t.Helper()
	reply := g.Do("GET", "/v1/timers/"+path, nil)
	require.Equal(g.t, http.StatusOK, reply.Status, "%s", reply.Body)
	return reply.Timer()
}

// Timers counts the workflows of timers of a business type, those that have ended too.
func (g *Gateway) Timers(kind string) (n int) {
	g.t.Helper()
	for _, id := range enginetest.IDs(g.Temporal) {
		if strings.HasPrefix(id, kind+"/") {
			n++
		}
	}
	return n
}

// Booking is a one-shot timer with a small payload.
func Booking(kind, id, delay string) JSON {
	return JSON{
		"business_type": kind, "business_id": id, "delay": delay, "payload": JSON{"n": 1},
		"callback": JSON{"url": Receiver},
	}
}

// Receiver is where callbacks go to; nobody listens there, and nobody calls.
const Receiver = "http://127.0.0.1:9999/"

// Occur has a worker deliver an occurrence of a recurring timer, and begin the next one.
func (g *Gateway) Occur(path string) {
	g.t.Helper()
	enginetest.Worker{On: g.Temporal}.Occur(g.t, path)
}

// End has a worker bring a timer to a status, where one has to, and shows it.
func (g *Gateway) End(path, status string) Timer {
	g.t.Helper()
	worker := enginetest.Worker{On: g.Temporal}
	switch timer.Status(status) {
	case timer.Delivered:
		worker.Deliver(path)
	case timer.Failed:
		worker.Fail(path)
	case timer.Expired:
		worker.Close(path, timer.Outcome{Status: timer.Expired})
	default:
	}
	shown := g.Get(path)
	require.Equal(g.t, status, shown.Status)
	return shown
}
