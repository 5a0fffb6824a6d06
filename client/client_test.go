package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// wakecall answers the tries of a call one after another, without a network.
type wakecall struct {
	answers  []answer
	requests []*http.Request
	bodies   []string
}

type answer struct {
	status int
	body   string
	after  string // Retry-After
	err    error
	cut    bool // whether it breaks off after the body
}

func (w *wakecall) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	w.requests, w.bodies = append(w.requests, r), append(w.bodies, string(body))
	a := w.answers[min(len(w.requests), len(w.answers))-1]
	if a.err != nil || err != nil {
		return nil, a.err
	}
	header := http.Header{}
	if a.after != "" {
		header.Set("Retry-After", a.after)
	}
	var told io.Reader = strings.NewReader(a.body)
	if a.cut {
		told = io.MultiReader(told, iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(told), Request: r}, nil
}

func (w *wakecall) client() *Client {
	return New(Options{URL: "http://wakecall.test/", Key: "secret", HTTP: &http.Client{Transport: w}})
}

var (
	key  = wire.Key{BusinessType: "order-close", BusinessID: "a~b@c"}
	lost = &net.OpError{Op: "read", Err: io.ErrUnexpectedEOF}
	dial = &net.OpError{Op: "dial", Err: io.EOF}
	busy = answer{status: 503, body: `{"type":"urn:wakecall:problem:unavailable","detail":"later"}`, after: "1"}
	full = answer{status: 429, body: `{"type":"urn:wakecall:problem:quota-exceeded","detail":"later"}`, after: "3"}
	cut  = answer{status: 200, body: `{"business_type":`, cut: true}
	away = answer{status: 502, body: "<html>"}
	slow = answer{status: 504, body: "<html>"}
	gone = answer{status: 404, body: `{"type":"urn:wakecall:problem:not-found","detail":"none"}`}
	done = answer{status: 200, body: `{"business_type":"order-close","status":"scheduled"}`}
)

// A call is repeated if and only if that is safe.
func TestWhatIsRepeated(t *testing.T) {
	add := func(ctx context.Context, c *Client) error {
		_, _, err := c.Timers.Add(ctx, Booking{Key: key})
		return err
	}
	fire := func(ctx context.Context, c *Client) error {
		_, _, err := c.Timers.Fire(ctx, key, nil)
		return err
	}
	putVersion := func(ctx context.Context, c *Client) error {
		_, err := c.Policies.Put(ctx, "x", map[string]any{}, 3)
		return err
	}
	drop := func(ctx context.Context, c *Client) error { return c.Policies.Delete(ctx, "x", "") }
	for name, c := range map[string]struct {
		call    func(context.Context, *Client) error
		answers []answer
		tries   int
		fails   bool
	}{
		"a booking whose answer is lost":            {add, []answer{{err: lost}, done}, 2, false},
		"a booking that was never sent":             {add, []answer{{err: dial}, done}, 2, false},
		"a booking that is refused for now":         {add, []answer{busy, full, done}, 3, false},
		"a booking that is refused":                 {add, []answer{{status: 422, body: `{"detail":"no"}`}}, 1, true},
		"a booking that nobody answers":             {add, []answer{{err: lost}}, DefaultTries, true},
		"a booking that is called off":              {add, []answer{{err: context.Canceled}}, 1, true},
		"an extra ring whose answer is lost":        {fire, []answer{{err: lost}}, 1, true},
		"an extra ring of an unknown outcome":       {fire, []answer{busy}, 1, true},
		"an extra ring that was never sent":         {fire, []answer{{err: dial}, done}, 2, false},
		"an extra ring that a limit refuses":        {fire, []answer{full, done}, 2, false},
		"a policy of one version, its answer lost":  {putVersion, []answer{{err: lost}}, 1, true},
		"a booking behind a proxy":                  {add, []answer{away, slow, done}, 3, false},
		"a booking whose answer is cut off":         {add, []answer{cut, done}, 2, false},
		"an extra ring behind a proxy":              {fire, []answer{away}, 1, true},
		"an extra ring that takes too long":         {fire, []answer{slow}, 1, true},
		"an extra ring whose answer is cut off":     {fire, []answer{cut}, 1, true},
		"a policy of one version behind a proxy":    {putVersion, []answer{away}, 1, true},
		"a deletion whose answer is lost":           {drop, []answer{{err: lost}, gone}, 2, false},
		"a deletion whose answer is cut off":        {drop, []answer{{status: 503, cut: true}, full, gone}, 3, false},
		"a deletion that a proxy does not know":     {drop, []answer{{err: lost}, {status: 404, body: "<html>"}}, 2, true},
		"a deletion of what is not there":           {drop, []answer{gone}, 1, true},
		"a deletion that did not reach it at first": {drop, []answer{{err: dial}, full, gone}, 3, true},
		"a booking with an untrusted server":        {add, []answer{{err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}}, 1, true},
		"a booking with a server without TLS":       {add, []answer{{err: http.ErrSchemeMismatch}}, 1, true},
		"an answer that is no JSON":                 {add, []answer{{status: 200, body: "<html>"}}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wakecall{answers: c.answers}
				err := c.call(t.Context(), w.client())
				require.Equal(t, c.fails, err != nil, "%v", err)
				require.Len(t, w.requests, c.tries)
				for _, request := range w.requests {
					require.Equal(t, "Bearer secret", request.Header.Get("Authorization"))
					require.Equal(t, w.requests[0].Header.Get("Idempotency-Key"), request.Header.Get("Idempotency-Key"))
				}
				for _, body := range w.bodies {
					require.Equal(t, w.bodies[0], body)
				}
			})
		})
	}
}

// The pause before another try is the answer's, or grows.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wakecall{answers: []answer{full, done}}
		began := time.Now()
		_, _, err := w.client().Timers.Add(t.Context(), Booking{Key: key})
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
	for try, longest := range map[int]time.Duration{1: firstPause, 3: 4 * firstPause, 20: longestPause} {
		for range 100 {
			require.InDelta(t, longest*3/4, pause(try, lost), float64(longest/4))
		}
	}
	for try := 9; try <= 1000; try++ {
		require.InDelta(t, longestPause*3/4, pause(try, lost), float64(longestPause/4), "an outage of hours: try %d", try)
	}
	require.Equal(t, longestPause, pause(1, &Problem{RetryAfter: time.Hour}))
}

// A wait for another try ends with the caller's context.
func TestACallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wakecall{answers: []answer{full}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := w.client().Timers.Add(ctx, Booking{Key: key})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, w.requests, 1)
	})
}

// A version is put back with its values, where no policy is or where the one that is matches.
func TestAVersionIsPutBack(t *testing.T) {
	w := &wakecall{answers: []answer{{status: 201, body: `{"business_type":"order-close","version":5}`}}}
	stored, err := w.client().Policies.PutBack(t.Context(), PolicyVersion{Version: 3, Policy: &policy.Policy{BusinessType: "order-close"}}, NoPolicy)
	require.NoError(t, err)
	require.Equal(t, 5, stored.Version)
	require.Equal(t, "/v1/policies/order-close?keep_from=3", w.requests[0].URL.RequestURI())
	require.Equal(t, "*", w.requests[0].Header.Get("If-None-Match"))
	require.Contains(t, w.bodies[0], `"order-close"`)
}

func TestProblems(t *testing.T) {
	w := &wakecall{answers: []answer{{status: 409, body: `{"type":"urn:wakecall:problem:already-finished","title":"t","status":409,
		"detail":"The timer is already delivered.","errors":[{"pointer":"/due_at","code":"out-of-range","detail":"d"}],
		"timer":{"business_type":"order-close","business_id":"1","status":"delivered"}}`}}}
	_, _, err := w.client().Timers.Cancel(t.Context(), key, nil)
	var problem *Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, wire.AlreadyFinished, problem.Code())
	require.Equal(t, timer.Delivered, problem.Timer.Status)
	require.Equal(t, "already-finished: The timer is already delivered. /due_at: d", err.Error())

	w = &wakecall{answers: []answer{{status: 500, body: "<html>"}}}
	_, err = w.client().Timers.Get(t.Context(), key)
	require.ErrorContains(t, err, "500")
}

// Fields left out are not sent, because they would have another meaning.
func TestWhatIsSent(t *testing.T) {
	w := &wakecall{answers: []answer{done}}
	c := w.client()
	_, _, err := c.Timers.Add(t.Context(), Booking{Key: key, Terms: Terms{Delay: After(0), Payload: JSON(map[string]int{"n": 1})}})
	require.NoError(t, err)
	_, _, err = c.Timers.Patch(t.Context(), key, Terms{Bytes: []byte{0, 1}, ContentType: "a/b"}, After(0))
	require.NoError(t, err)
	require.JSONEq(t, `{"business_type":"order-close","business_id":"a~b@c","delay":"0s","payload":{"n":1}}`, w.bodies[0])
	require.JSONEq(t, `{"payload_base64":"AAE=","content_type":"a/b"}`, w.bodies[1])
	require.Equal(t, "/v1/timers/order-close/a~b@c?wait=0s", w.requests[1].URL.RequestURI())
	require.Empty(t, w.requests[1].Header.Get("Idempotency-Key"))
	_, _, err = c.Timers.Add(t.Context(), Booking{Key: key, Terms: Terms{Payload: JSON(make(chan int))}})
	require.Error(t, err, "nothing is sent that is no JSON")
	require.Len(t, w.requests, 2)
}

// The text of an error may be longer than Wakecall takes. The nack must not fail because of it.
func TestANackWithALongReason(t *testing.T) {
	w := &wakecall{answers: []answer{done}}
	for _, reason := range []string{"out of stock", strings.Repeat("é", delivery.MaxAckReason), "a\xffb" + strings.Repeat("x", 1<<16)} {
		_, _, err := w.client().Deliveries.Nack(t.Context(), Delivery{WebhookID: "msg_1"}, Failure{Reason: reason})
		require.NoError(t, err)
		var said struct{ Reason string }
		require.NoError(t, json.Unmarshal([]byte(w.bodies[len(w.bodies)-1]), &said))
		require.Empty(t, delivery.Acknowledgement{Reason: said.Reason}.Check())
		require.Equal(t, len(reason) < delivery.MaxAckReason, said.Reason == reason)
		require.NotEmpty(t, said.Reason)
	}
}

func TestABatchTellsOfEachItem(t *testing.T) {
	w := &wakecall{answers: []answer{{status: 200, body: `{"results":[{"status":201,"timer":{"business_id":"1"}},
		{"status":409,"problem":{"type":"urn:wakecall:problem:already-exists","detail":"d","status":409}},
		{"status":429,"problem":{"type":"urn:wakecall:problem:quota-exceeded","detail":"d","status":429,"retry_after":"1m30s"}}]}`}}}
	added, err := w.client().Timers.AddBatch(t.Context(), []Booking{{}, {}, {}})
	require.NoError(t, err)
	require.Equal(t, "1", added[0].Timer.BusinessID)
	require.Nil(t, added[0].Problem)
	require.Equal(t, wire.AlreadyExists, added[1].Problem.Code())
	require.Equal(t, 409, added[1].Problem.Status)
	require.Zero(t, added[1].Problem.RetryAfter)
	require.Equal(t, 90*time.Second, added[2].Problem.RetryAfter)
	require.Error(t, json.Unmarshal([]byte(`{"status":"x"}`), &added[0]))
}
