// Package receiver has the receivers of tests: a real HTTP server that records its calls and answers as
// configured ([New]), one that connects ([Listen]), and the queue of a broker ([NewQueue]).
package receiver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wakecall/wakecall/api/contract"
)

// Call is one request that arrived.
type Call struct {
	Path   string
	Header http.Header
	Body   []byte
	At     time.Time
}

// ID is the business id of the call.
func (c Call) ID() string { return c.Header.Get("Wakecall-Business-Id") }

// Answer answers the n-th call (from 1) about one business id.
type Answer func(w http.ResponseWriter, r *http.Request, n int)

// Receiver is a receiver on loopback.
type Receiver struct {
	URL string

	mu      sync.Mutex
	calls   []Call
	counts  map[string]int
	answers map[string]Answer
	arrived chan struct{}
}

// New starts a receiver that answers 200 to everything.
func New(t testing.TB) *Receiver {
	r := &Receiver{counts: map[string]int{}, answers: map[string]Answer{}, arrived: make(chan struct{})}
	server := httptest.NewServer(r)
	t.Cleanup(func() {
		server.Close()
		r.hold(t)
	})
	r.URL = server.URL
	return r
}

// held is how many calls of a test are checked against the document: a herd's calls are alike.
const held = 50

func (r *Receiver) hold(t testing.TB) {
	left := held
	for _, call := range r.All() {
		if call.Header.Get("webhook-id") == "" {
			continue // another caller
		}
		if left--; left < 0 {
			return
		}
		contract.HoldRing(t, call.Header, call.Body)
	}
}

// On sets the answer to calls to a path.
func (r *Receiver) On(path string, answer Answer) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[path] = answer
	return r.URL + path
}

// Status answers with a fixed status.
func Status(code int) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(code) }
}

// FailFirst answers 500 to the first n calls about an id, then 200.
func FailFirst(n int) Answer {
	return func(w http.ResponseWriter, _ *http.Request, call int) {
		if call <= n {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
}

// ServeHTTP records a call, then answers it.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	call := Call{Path: req.URL.Path, Header: req.Header.Clone(), Body: body, At: time.Now()}
	r.mu.Lock()
	r.calls = append(r.calls, call)
	r.counts[call.ID()]++
	n, answer := r.counts[call.ID()], r.answers[req.URL.Path]
	close(r.arrived)
	r.arrived = make(chan struct{})
	r.mu.Unlock()
	if answer != nil {
		answer(w, req, n)
	}
}

// Calls returns the calls about an id so far.
func (r *Receiver) Calls(id string) (calls []Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range r.calls {
		if call.ID() == id {
			calls = append(calls, call)
		}
	}
	return calls
}

// To returns the calls to a path so far.
func (r *Receiver) To(path string) (calls []Call) {
	for _, call := range r.All() {
		if call.Path == path {
			calls = append(calls, call)
		}
	}
	return calls
}

// All returns every call so far.
func (r *Receiver) All() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Await returns the calls about an id once there are n of them.
func (r *Receiver) Await(t testing.TB, id string, n int) []Call {
	t.Helper()
	return r.await(t, "about "+id, n, func() []Call { return r.Calls(id) })
}

// AwaitTo returns the calls to a path once there are n of them.
func (r *Receiver) AwaitTo(t testing.TB, path string, n int) []Call {
	t.Helper()
	return r.await(t, "to "+path, n, func() []Call { return r.To(path) })
}

// AwaitAll returns all calls once there are n of them.
func (r *Receiver) AwaitAll(t testing.TB, n int) []Call {
	t.Helper()
	return r.await(t, "in all", n, r.All)
}

// patience is the wait for one more call, not for all of them. It may be due a minute ahead.
const patience = 3 * time.Minute

func (r *Receiver) await(t testing.TB, what string, n int, read func() []Call) []Call {
	t.Helper()
	for {
		r.mu.Lock()
		arrived := r.arrived
		r.mu.Unlock()
		calls := read()
		if len(calls) >= n {
			return calls
		}
		select {
		case <-arrived:
		case <-time.After(patience):
			t.Fatalf("the receiver was called %d times %s, not %d", len(calls), what, n)
		}
	}
}

// HangOnce fails calls, hangs on the n-th until its caller is gone, and then
// succeeds.
func HangOnce(n int) Answer {
	return func(w http.ResponseWriter, r *http.Request, call int) {
		switch {
		case call < n:
			w.WriteHeader(http.StatusInternalServerError)
		case call == n:
			<-r.Context().Done()
		}
	}
}

// AnsweredBy takes the status of its answer from a channel.
func AnsweredBy(answers <-chan int) Answer {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		select {
		case status := <-answers:
			w.WriteHeader(status)
		case <-r.Context().Done():
		}
	}
}

// Headers are the values of one header, call by call.
func Headers(calls []Call, name string) (values []string) {
	for _, call := range calls {
		values = append(values, call.Header.Get(name))
	}
	return values
}

// Span is the time from the first to the last.
func Span(times []time.Time) time.Duration {
	return slices.MaxFunc(times, time.Time.Compare).Sub(slices.MinFunc(times, time.Time.Compare))
}
