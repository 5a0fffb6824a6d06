package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/deliveries"
	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	apipolicies "github.com/wakecall/wakecall/api/policies"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
)

// ledger is an engine that does what it is asked for, or does not, by lot, and notes for
// which request it did.
type ledger struct {
	apitimers.Failures
	deliveries.Deliveries
	dispatches.Dispatches
	dispatches.Controls
	// lots and made are under mu: the items of a batch are booked side by side.
	mu   sync.Mutex
	lots *rand.Rand
	made map[string]int
}

// draw is a number below n.
func (l *ledger) draw(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lots.IntN(n)
}

// lot is what becomes of a request: its effect, or why there is none.
func (l *ledger) lot(ctx context.Context, key wire.Key) (view timer.View, effect bookings.Effect, err error) {
	view = timer.View{Key: key, Status: timer.Scheduled, Revision: 3}
	switch l.draw(6) {
	case 0:
		return timer.View{}, "", &wire.Error{Code: wire.AlreadyFinished, Message: "It is over.", State: &view}
	case 1:
		return timer.View{}, "", &wire.Error{Code: wire.Unavailable, Message: "Nobody knows."}
	case 2:
		return timer.View{}, "", errors.New("broken")
	case 3:
		effect = bookings.Pending
	default:
		effect = bookings.Done
	}
	l.note(ctx)
	view.Found = &timer.Memo{Revision: 2, DueAt: 7}
	return view, effect, nil
}

func (l *ledger) note(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made[audit.Who(ctx, "order").RequestID]++
}

func (l *ledger) Add(ctx context.Context, r bookings.Request) (timer.View, bool, error) {
	if l.draw(5) == 0 {
		return timer.View{Key: r.Key, Revision: 1}, false, nil // it was booked before
	}
	view, _, err := l.lot(ctx, r.Key)
	return view, err == nil, err
}

func (l *ledger) Upsert(ctx context.Context, r bookings.Request, _ time.Duration) (timer.View, bookings.Effect, error) {
	return l.lot(ctx, r.Key)
}

func (l *ledger) Amend(ctx context.Context, r bookings.Request, _ time.Duration) (timer.View, bookings.Effect, error) {
	return l.lot(ctx, r.Key)
}

func (l *ledger) Fire(ctx context.Context, target bookings.Target) (timer.View, bookings.Effect, error) {
	return l.lot(ctx, target.Key)
}

func (l *ledger) Cancel(ctx context.Context, target bookings.Target) (timer.View, bookings.Effect, error) {
	if l.draw(5) == 0 {
		return timer.View{Key: target.Key, Unchanged: true}, bookings.Done, nil // it was cancelled before
	}
	return l.lot(ctx, target.Key)
}

func (l *ledger) Get(_ context.Context, key wire.Key) (timer.View, error) {
	return timer.View{Key: key}, nil
}

func (l *ledger) List(context.Context, timers.PageRequest) (timers.Page, error) {
	return timers.Page{}, nil
}

func (l *ledger) Redeliver(ctx context.Context, key wire.Key, _ string) (timer.View, error) {
	view, _, err := l.lot(ctx, key)
	return view, err
}

// policyLedger is the part for policies.
type policyLedger struct {
	apipolicies.Policies
	*ledger
}

func (l policyLedger) Put(ctx context.Context, change policies.Change) (policies.Result, error) {
	_, _, err := l.lot(ctx, wire.Key{})
	if change.DryRun && err == nil {
		l.made[audit.Who(ctx, "order").RequestID]--
	}
	p := change.Policy
	p.Version = 4
	return policies.Result{Policy: p, Changes: []policy.Difference{{Pointer: "/priority", From: 3, To: 4}}}, err
}

func (l policyLedger) Stored(_ context.Context, businessType string) (policy.Policy, error) {
	return policy.Policy{BusinessType: businessType, Version: 1}, nil
}

func (l policyLedger) Delete(ctx context.Context, _ policies.Deletion) error {
	_, _, err := l.lot(ctx, wire.Key{})
	return err
}

func (l policyLedger) List(context.Context) ([]policy.Policy, error) { return nil, nil }

// pauseLedger is the part that pauses timers.
type pauseLedger struct{ *ledger }

func (l pauseLedger) Pause(ctx context.Context, target bookings.Target, _ timer.Pause) (timer.View, bookings.Effect, error) {
	return l.lot(ctx, target.Key)
}

// emergencyLedger is the part for emergencies.
type emergencyLedger struct{ *ledger }

func (l emergencyLedger) Pause(ctx context.Context, _ policy.EmergencyOrder) ([]policy.Emergency, error) {
	_, _, err := l.lot(ctx, wire.Key{})
	return nil, err
}

func (l emergencyLedger) Resume(ctx context.Context, order policy.EmergencyOrder) (policy.Held, error) {
	paused, err := l.Pause(ctx, order)
	return policy.Held{Paused: paused}, err
}

func (l emergencyLedger) List(context.Context) ([]policy.Emergency, error) { return nil, nil }

// secretBody is in every payload, header and secret that the calls send.
const secretBody = "hunter2"

// randomCall is any call, right or wrong.
func randomCall(l *rand.Rand) *http.Request {
	pick := func(of ...string) string { return of[l.IntN(len(of))] }
	kind := pick("order", "order", "order", "foreign", "NONE")
	one := "/v1/timers/" + kind + "/" + pick("1", "2", "a%20b")
	booking := pick(`{"business_type":"`+kind+`","business_id":"1","delay":"1h","payload":"hunter2"}`, `{"business_type":"`+kind+`"}`, `[]`, `{`)
	terms := pick(`{"delay":"1h","payload":"hunter2","priority":2}`, `{"due_at":"2100-01-31T00:00:00Z","callback":{"headers":{"X":"hunter2"}}}`, `{"delay":1}`, `{}`, ``)
	method, path, body := "GET", one, ""
	switch l.IntN(16) {
	case 0:
		path = pick("/v1/timers?business_type="+kind, "/v1/nothing", "/livez", one+"/history", "/v1/policies")
	case 1, 2:
		method, path, body = "POST", "/v1/timers", booking
	case 3:
		method, body = "PUT", terms
	case 4, 5:
		method, body = "PATCH", terms
	case 6, 7:
		method = "DELETE"
	case 8:
		method, path = "POST", one+"/"+pick("fire", "redeliver", "nothing")
	case 9:
		method, path, body = "POST", one+"/"+pick("pause", "resume"), pick("", `{"note":"why"}`, `{"x":1}`)
	case 10:
		method, path, body = "PUT", "/v1/policies/"+kind+pick("", "", "?dry_run=true", "?x=1"), pick(`{"callback":{"url":"https://example.com","headers":{"A":"hunter2"}}}`, `{}`, `{"x":1}`)
	case 11:
		method, path = "DELETE", "/v1/policies/"+kind+pick("", "?timers=keep", "?timers=x")
	case 12:
		method, path, body = "POST", "/v1/emergency/"+pick("pause", "resume"), pick(`{"everything":true}`, `{"business_types":["order","foreign"]}`, `{"business_types":["order"]}`, `{}`)
	case 13:
		method, path, body = "POST", "/v1/recurrences/preview", `{"recurrence":{"every":"1h"}}`
	case 14:
		method, path, body = "POST", "/v1/timers/batch", `{"timers":[`+booking+`,{"business_type":"order","business_id":"2","delay":"1h","payload":"hunter2"}]}`
	default:
		method = pick("HEAD", "OPTIONS", "BREW")
	}
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		request.Header.Set("Content-Type", pick("application/json", "application/json", "application/json", "application/json", "text/plain"))
	}
	if key := pick("secret", "secret", "secret", "secret", "guest", "wrong", ""); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return request
}

// Of 10,000 random calls each that may change something leaves one record, whose answer is
// that of the call; and what was changed is what the records say.
func TestAsManyRecordsAsChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	log := audit.NewLog(file)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	lots := rand.New(rand.NewPCG(seed, 1))
	made := &ledger{lots: lots, made: map[string]int{}}
	server := New(Options{
		Timers:      apitimers.Options{Timers: made, Failures: made, Pauser: pauseLedger{made}},
		Front:       front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: keysOfThree(t), Audit: log},
		Policies:    policyLedger{ledger: made},
		Emergencies: emergencyLedger{made},
	})
	answers, may := map[string]int{}, map[string]bool{}
	for i := range 10_000 {
		request := randomCall(lots)
		id := fmt.Sprint("r", i)
		request.Header.Set("X-Request-Id", id)
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		answers[id] = answer.Code
		// A path that there is, and a method that changes something; no receiver's call here.
		may[id] = slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, request.Method) &&
			!strings.Contains(request.URL.Path, "nothing") && !strings.HasSuffix(request.URL.Path, "preview")
	}
	require.NoError(t, log.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), secretBody, "no payload, header or secret")
	records, outcomes := map[string]trail.Record{}, map[trail.Outcome]int{}
	for line := range bytes.Lines(text) {
		var one trail.Record
		require.NoError(t, jsonv2.Unmarshal(line, &one), "%s", line)
		_, twice := records[one.RequestID] // NotContains would compare it with each of them
		require.False(t, twice, "one record for a call: %s", one.RequestID)
		records[one.RequestID] = one
		outcomes[one.Outcome]++
	}
	for id, status := range answers {
		one, recorded := records[id]
		require.Equal(t, may[id], recorded, "%s %d", id, status)
		if !recorded {
			require.Zero(t, made.made[id], id)
			continue
		}
		require.Equal(t, status, one.Status, id)
		if one.Items != nil {
			changes := 0
			for _, item := range one.Items {
				if item.Outcome == trail.Done {
					changes++
				}
			}
			require.Equal(t, changes, made.made[id], "%+v", one)
			continue
		}
		changed := one.Outcome == trail.Done || one.Outcome == trail.Accepted
		require.Equal(t, changed, made.made[id] == 1, "%s %+v", id, one)
		require.Equal(t, status == http.StatusUnauthorized, one.Who == nil, "%s %+v", id, one)
	}
	for _, outcome := range trail.Outcomes() {
		require.Greater(t, outcomes[outcome], 50, outcome)
	}
}

// keysOfThree lets in who may operate one type, whose key is secret, and a guest.
func keysOfThree(t *testing.T) *auth.Authenticator {
	t.Helper()
	shop, err := auth.ParseKey("shop:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b:admin:order")
	require.NoError(t, err)
	guest, err := auth.ParseKey("guest:84983c60f7daadc1cb8698621f802c0d9f9a3c3c295c810748fb048115c186ec:viewer:order")
	require.NoError(t, err)
	return auth.New([]auth.Key{shop, guest})
}

// shut is a log that takes nothing.
type shut struct{ begun int }

func (s *shut) Begin(*trail.Record) (audit.Open, error) {
	s.begun++
	return nil, errors.New("disk full")
}
func (*shut) Close() error { return nil }

// A call that cannot be recorded is not carried out. What changes nothing goes on, and a
// refusal stays what it is.
func TestWhatCannotBeRecordedIsNotDone(t *testing.T) {
	t.Parallel()
	made, sink := &ledger{lots: rand.New(rand.NewPCG(1, 1)), made: map[string]int{}}, &shut{}
	server := New(Options{
		Timers: apitimers.Options{Timers: made, Failures: made},
		Front:  front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: keysOfThree(t), Audit: audit.NewLog(sink)},
	})
	call := func(method, path, key string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, path, nil)
		request.Header.Set("Authorization", "Bearer "+key)
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		return answer
	}
	answer := call("DELETE", "/v1/timers/order/1", "secret")
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.Contains(t, answer.Body.String(), "The audit cannot record the call")
	require.NotContains(t, answer.Body.String(), "disk full", "the log knows why")
	require.Empty(t, made.made)
	require.Equal(t, http.StatusOK, call("GET", "/v1/timers/order/1", "secret").Code)
	require.Equal(t, 1, sink.begun)
	require.Equal(t, http.StatusUnauthorized, call("DELETE", "/v1/timers/order/1", "wrong").Code)
	require.Equal(t, http.StatusForbidden, call("DELETE", "/v1/timers/order/1", "guest").Code)
	require.Equal(t, 3, sink.begun)
}

// panicking breaks in the middle of a change.
type panicking struct{ *ledger }

func (panicking) Cancel(context.Context, bookings.Target) (timer.View, bookings.Effect, error) {
	panic("in the middle") //nolint:forbidigo // it is what is tested
}

// What a record says of one call.
func TestWhatARecordSays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	made := &ledger{lots: rand.New(rand.NewPCG(1, 1)), made: map[string]int{}}
	log := audit.NewLog(file)
	server := New(Options{
		Timers: apitimers.Options{Timers: panicking{made}, Failures: made},
		Front:  front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: keysOfThree(t), Audit: log},
	})
	call := func(method, path, body string) {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer secret")
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Request-Id", "here")
		request.Header.Set("X-Forwarded-For", "203.0.113.9")
		server.Handler().ServeHTTP(httptest.NewRecorder(), request)
	}
	for made.made["here"] == 0 { // until the lot is good
		call("PATCH", "/v1/timers/order/1", `{"due_at":"2100-01-31T00:00:00Z","payload":"hunter2"}`)
	}
	call("DELETE", "/v1/timers/order/2", "")
	require.NoError(t, log.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var patched, broken trail.Record
	require.NoError(t, jsonv2.Unmarshal([]byte(lines[len(lines)-2]), &patched))
	require.NoError(t, jsonv2.Unmarshal([]byte(lines[len(lines)-1]), &broken))
	require.NotEmpty(t, patched.ID)
	require.InDelta(t, time.Now().UnixMilli(), int64(patched.At), float64(time.Minute.Milliseconds()))
	patched.ID, patched.At = "", 0
	outcome, status := trail.Done, http.StatusOK
	if patched.Outcome == trail.Accepted {
		outcome, status = trail.Accepted, http.StatusAccepted
	}
	require.Equal(t, trail.Record{
		Who: &wire.Actor{Name: "shop", Role: "admin", By: "key"}, From: "192.0.2.1", RequestID: "here", Method: "PATCH", Route: "/v1/timers/:type/:id",
		Target: trail.Target{BusinessType: "order", BusinessID: "1"}, RevisionBefore: 2, Revision: 3,
		Changes: []timer.FieldChange{{Field: "due_at", From: "1970-01-01T00:00:00.007Z", To: "2100-01-31T00:00:00.000Z"}, {Field: "payload"}},
		Outcome: outcome, Status: status,
	}, patched)
	require.Equal(t, trail.Unknown, broken.Outcome)
	require.Equal(t, http.StatusInternalServerError, broken.Status)
	require.Equal(t, wire.Internal, broken.Problem)
}

// An order says what is done with what, and of an edit which fields, without their values.
func TestWhatTheRecordOfAnOrderSays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	log := audit.NewLog(file)
	server := New(Options{
		Timers: apitimers.Options{Timers: silent{}, Failures: silent{}},
		Front:  front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: keysOfThree(t), Audit: log},
		Bulk:   &bulkJobs{},
	})
	for _, body := range []string{
		`{"id":"7","operation":"edit","filter":{"business_type":"order"},"edit":{"payload":"hunter2"},"per_second":5}`,
		`{"id":"8","operation":"edit","filter":{"business_type":"order"},"edit":{"payload":"hunter2"},"hunter2":1}`,
	} {
		request := httptest.NewRequest("POST", "/v1/bulk", strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer secret")
		request.Header.Set("Content-Type", "application/json")
		server.Handler().ServeHTTP(httptest.NewRecorder(), request)
	}
	require.NoError(t, log.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), secretBody)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 2)
	var ordered, refused trail.Record
	require.NoError(t, jsonv2.Unmarshal([]byte(lines[0]), &ordered))
	require.NoError(t, jsonv2.Unmarshal([]byte(lines[1]), &refused))
	require.Equal(t, trail.Target{BusinessType: "order", ID: "7"}, ordered.Target)
	require.Equal(t, trail.Accepted, ordered.Outcome)
	require.Equal(t, []timer.FieldChange{
		{Field: "edit"}, {Field: "filter", To: map[string]any{"business_type": "order"}}, {Field: "id"}, {Field: "operation", To: "edit"}, {Field: "per_second", To: 5.0},
	}, ordered.Changes)
	require.Empty(t, refused.Changes, "what was refused may name anything")
	require.Equal(t, wire.InvalidRequest, refused.Problem)
}
