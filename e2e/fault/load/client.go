package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wakecall/wakecall/e2e/fault/oracle"
)

// Target is the API to call.
type Target struct {
	// URLs are the gateways of one deployment. They take turns.
	URLs []string
	// Key is sent as a bearer token, if there is one.
	Key string
}

// patience is longer than the API takes to report an unknown outcome.
const patience = 15 * time.Second

// client makes calls and records their outcomes.
type client struct {
	Target

	businessType string
	// query sets how long changes and cancels wait for their effect.
	query string
	http  *http.Client

	turns atomic.Int64

	mu    sync.Mutex
	calls []oracle.Call
}

func newClient(target Target, plan Plan) *client {
	c := &client{Target: target, businessType: plan.Type, http: &http.Client{
		Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: connections},
	}}
	if plan.Regret {
		c.query = "?wait=0s"
	}
	return c
}

func (c *client) log() []oracle.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// add books a timer. doubt reports whether it may exist already.
func (c *client) add(ctx context.Context, f course, doubt bool) oracle.Call {
	call := oracle.Call{Op: oracle.Add, ID: f.id, Due: f.due}
	body := map[string]any{
		"business_type": c.businessType, "business_id": f.id, "due_at": instant(f.due), "payload": f.orders,
	}
	return c.do(ctx, call, request{http.MethodPost, "/v1/timers", body, doubt})
}

func (c *client) move(ctx context.Context, id string, due time.Time) {
	call := oracle.Call{Op: oracle.Change, ID: id, Due: due}
	c.do(ctx, call, request{http.MethodPatch, c.path(id), map[string]any{"due_at": instant(due)}, false})
}

func (c *client) cancel(ctx context.Context, id string) {
	c.do(ctx, oracle.Call{Op: oracle.Cancel, ID: id}, request{http.MethodDelete, c.path(id), nil, false})
}

func (c *client) path(id string) string {
	return "/v1/timers/" + url.PathEscape(c.businessType) + "/" + url.PathEscape(id) + c.query
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

type request struct {
	method, path string
	body         any
	// doubt reports whether a conflict may be with an earlier try of our own.
	doubt bool
}

// do makes a call, judges it and records it.
func (c *client) do(ctx context.Context, call oracle.Call, r request) oracle.Call {
	call.Sent = time.Now()
	status, answer, err := c.send(ctx, r)
	call.Answered = time.Now()
	call.Status = status
	call.Outcome = outcome(status, err)
	view := answer.shown
	if slug, found := strings.CutPrefix(answer.Type, "urn:wakecall:problem:"); found {
		call.Problem = slug
		if answer.Timer != nil {
			view = answer.Timer.shown
		}
	}
	if r.doubt && status == http.StatusConflict && call.Problem == "already-finished" {
		call.Outcome = oracle.OK
	}
	call.Revision, call.WebhookID = view.Revision, view.WebhookID
	call.Pending = status == http.StatusAccepted && !view.reflects(call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
	return call
}

// outcome is what the client knows for certain. A 503 means an unknown outcome by the API's
// documents; other 5xx promise nothing.
func outcome(status int, err error) oracle.Outcome {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return oracle.Failed // it was never sent
	case err != nil, status/100 == 5:
		return oracle.Unknown
	case status/100 == 2:
		return oracle.OK
	default:
		return oracle.Failed
	}
}

// shown is the part of a timer that the client reads.
type shown struct {
	Revision  int    `json:"revision"`
	WebhookID string `json:"webhook_id"`
	// Status is a word in a timer, and a number in a problem.
	Status any       `json:"status"`
	DueAt  time.Time `json:"due_at"`
}

// reflects reports whether a shown timer has the state that a call requested.
func (s shown) reflects(call oracle.Call) bool {
	if call.Op == oracle.Cancel {
		return s.Status == "cancelled"
	}
	return s.DueAt.Equal(call.Due)
}

// answer is a timer, or a problem document.
type answer struct {
	shown
	Type  string  `json:"type"`
	Timer *answer `json:"timer"`
}

// gateway is the next gateway in turn.
func (c *client) gateway() string {
	return c.URLs[int(c.turns.Add(1))%len(c.URLs)]
}

func (c *client) send(ctx context.Context, r request) (status int, a answer, err error) {
	var body io.Reader
	if r.body != nil {
		raw, err := json.Marshal(r.body)
		if err != nil {
			return 0, a, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.gateway()+r.path, body)
	if err != nil {
		return 0, a, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	response, err := c.http.Do(req)
	if err != nil {
		return 0, a, err
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return 0, a, err // half an answer is none
	}
	return response.StatusCode, a, nil
}
