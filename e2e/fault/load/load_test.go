package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/wakecall/wakecall/e2e/fault/oracle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)

func TestPlanFollowsFromItsSeed(t *testing.T) {
	plan := Plan{Seed: 7, Timers: 1000, Over: time.Minute, Lead: time.Second, Spread: 10 * time.Second, Refuse: 0.2, Move: 0.1, Cancel: 0.1}
	again, other, refused, moved, cancelled := plan, plan, 0, 0, 0
	other.Seed = 8
	same := 0
	for n := range plan.Timers {
		f := plan.course(n, noon)
		require.Equal(t, f, again.course(n, noon))
		if other.course(n, noon).due.Equal(f.due) {
			same++
		}
		require.WithinRange(t, f.due, f.add.Add(time.Second-time.Millisecond), f.add.Add(11*time.Second))
		if f.orders.Refuse > 0 {
			refused++
		}
		switch {
		case f.touch.IsZero():
			continue
		case f.cancel:
			cancelled++
		default:
			moved++
			require.True(t, f.moveTo.After(f.due))
		}
		require.WithinRange(t, f.touch, f.add, f.due)
	}
	require.Less(t, same, 10)
	require.InDelta(t, 200, refused, 60)
	require.InDelta(t, 100, moved, 40)
	require.InDelta(t, 100, cancelled, 40)
}

func TestHerdAndRace(t *testing.T) {
	plan := Plan{Timers: 100, Over: time.Minute, Lead: time.Second, Herd: true, Cancel: 1, Race: 50 * time.Millisecond}
	for n := range plan.Timers {
		f := plan.course(n, noon)
		require.Equal(t, noon.Add(61*time.Second), f.due)
		require.WithinRange(t, f.touch, f.due.Add(-plan.Race), f.due.Add(plan.Race))
	}
}

// api sets the answer to the n-th add of each id, and answers all else well.
type api struct {
	mu   sync.Mutex
	adds map[string]int
	then func(w http.ResponseWriter, n int)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID  string    `json:"business_id"`
		Due time.Time `json:"due_at"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch r.Method {
	case http.MethodPost:
		a.mu.Lock()
		a.adds[body.ID]++
		n := a.adds[body.ID]
		a.mu.Unlock()
		a.then(w, n)
	case http.MethodPatch:
		_, _ = fmt.Fprintf(w, `{"revision":2,"webhook_id":"w","status":"scheduled","due_at":%q}`, instant(body.Due))
	case http.MethodDelete:
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"revision":1,"webhook_id":"w","status":"scheduled"}`))
	}
}

func reply(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

const (
	booked   = `{"revision":1,"webhook_id":"w","status":"scheduled"}`
	outage   = `{"type":"urn:wakecall:problem:unavailable","status":503}`
	finished = `{"type":"urn:wakecall:problem:already-finished","status":409,"timer":{"revision":1,"webhook_id":"w"}}`
)

// tell runs a plan of one timer against an API, and returns its calls.
func tell(t *testing.T, plan Plan, then func(http.ResponseWriter, int)) []oracle.Call {
	t.Helper()
	server := httptest.NewServer(&api{adds: map[string]int{}, then: then})
	defer server.Close()
	plan.Timers, plan.Type = 1, "t"
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	l := Start(ctx, Target{URLs: []string{server.URL}}, plan)
	l.Wait()
	l.Close()
	return l.Calls()
}

func TestOutcomes(t *testing.T) {
	for name, test := range map[string]struct {
		then func(http.ResponseWriter, int)
		want []oracle.Outcome
	}{
		"new": {func(w http.ResponseWriter, _ int) { reply(w, 201, booked) }, []oracle.Outcome{oracle.OK}},
		"unavailable, then new": {func(w http.ResponseWriter, n int) {
			if n == 1 {
				reply(w, 503, outage)
				return
			}
			reply(w, 201, booked)
		}, []oracle.Outcome{oracle.Unknown, oracle.OK}},
		"no answer, then finished": {func(w http.ResponseWriter, n int) {
			if n == 1 {
				panic(http.ErrAbortHandler) //nolint:forbidigo // this is how a handler breaks its connection
			}
			reply(w, 409, finished)
		}, []oracle.Outcome{oracle.Unknown, oracle.OK}},
		"half an answer, then there": {func(w http.ResponseWriter, n int) {
			if n == 1 {
				reply(w, 201, `{"revision":`)
				return
			}
			reply(w, 200, booked)
		}, []oracle.Outcome{oracle.Unknown, oracle.OK}},
		"refused":                 {func(w http.ResponseWriter, _ int) { reply(w, 422, `{}`) }, []oracle.Outcome{oracle.Failed}},
		"finished from the first": {func(w http.ResponseWriter, _ int) { reply(w, 409, finished) }, []oracle.Outcome{oracle.Failed}},
	} {
		t.Run(name, func(t *testing.T) {
			outcomes := []oracle.Outcome{}
			for _, call := range tell(t, Plan{}, test.then) {
				outcomes = append(outcomes, call.Outcome)
				require.False(t, call.Answered.Before(call.Sent))
				if call.Outcome == oracle.OK {
					require.Equal(t, "w", call.WebhookID)
					require.Equal(t, 1, call.Revision)
				}
			}
			require.Equal(t, test.want, outcomes)
		})
	}
}

func TestTouches(t *testing.T) {
	then := func(w http.ResponseWriter, _ int) { reply(w, 201, booked) }
	plan := Plan{Lead: 20 * time.Millisecond, Move: 1}
	moved := tell(t, plan, then)
	require.Len(t, moved, 2)
	require.Equal(t, oracle.Change, moved[1].Op)
	require.Equal(t, 2, moved[1].Revision)
	require.False(t, moved[1].Pending)
	require.True(t, moved[1].Due.After(moved[0].Due))

	cancelled := tell(t, Plan{Lead: 20 * time.Millisecond, Cancel: 1}, then)
	require.Equal(t, oracle.Cancel, cancelled[1].Op)
	require.Equal(t, oracle.OK, cancelled[1].Outcome)
	require.True(t, cancelled[1].Pending, "it is durable, and not in effect")
}

// Without a listener the call certainly did not happen, and is repeated until it does.
func TestNobodyListens(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	l := Start(ctx, Target{URLs: []string{server.URL}}, Plan{Timers: 1})
	l.Wait()
	calls := l.Calls()
	require.Greater(t, len(calls), 1)
	require.Equal(t, oracle.Failed, calls[0].Outcome)
	require.Zero(t, l.Booked())
}
