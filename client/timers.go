package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

const timersPath = "/v1/timers"

// Timers calls what there is to do with timers.
type Timers struct{ caller *caller }

// Wait is how long a change waits for its effect: the default of the API where it is
// nil, and not at all where it is zero.
type Wait = *wire.Duration

// Add books a timer. created is false when the same one is there already. A repeated
// call books no second timer, however the first one has ended.
func (t Timers) Add(ctx context.Context, b Booking) (booked timer.View, created bool, err error) {
	call := call{method: http.MethodPost, path: timersPath, body: b, header: idempotent()}
	status, err := t.caller.do(ctx, call, &booked)
	return booked, status == http.StatusCreated, err
}

// idempotent is the header of a booking: the tries of one call are one request.
func idempotent() http.Header {
	return http.Header{"Idempotency-Key": {strconv.Quote(uuid.NewString())}}
}

// Added is what became of one booking of a batch.
type Added struct {
	Status int        `json:"status"`
	Timer  timer.View `json:"timer"`
	// ExpectedLateness is how late the timer will probably be, since more falls due by then
	// than its business type's limit lets through; 0 where nothing is known of that.
	ExpectedLateness wire.Duration `json:"expected_lateness"`
	Problem          *Problem      `json:"-"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Added) UnmarshalJSON(text []byte) error {
	type plain Added
	var item struct {
		plain
		Problem json.RawMessage `json:"problem"`
	}
	if err := json.Unmarshal(text, &item); err != nil {
		return err
	}
	*a = Added(item.plain)
	if len(item.Problem) > 0 {
		a.Problem = problemIn(&http.Response{StatusCode: a.Status}, item.Problem)
	}
	return nil
}

// AddBatch books up to 1,000 timers. Each is admitted or refused for itself; the
// results stand in the order of the bookings.
func (t Timers) AddBatch(ctx context.Context, bookings []Booking) ([]Added, error) {
	var answer struct{ Results []Added }
	_, err := t.caller.do(ctx, call{
		method: http.MethodPost, path: timersPath + "/batch", body: map[string][]Booking{"timers": bookings}, header: idempotent(),
	}, &answer)
	return answer.Results, err
}

// Put books a timer or replaces the one that is there, in one atomic step. pending is
// whether no worker has applied it in time: it is durable, and is applied before any
// callback.
func (t Timers) Put(ctx context.Context, b Booking, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPut, path: pathOf(b.Key), body: b.Terms}, wait)
}

// Patch moves or edits a timer.
func (t Timers) Patch(ctx context.Context, key wire.Key, terms Terms, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPatch, path: pathOf(key), body: terms}, wait)
}

// Cancel cancels a timer. One that is cancelled already is no problem.
func (t Timers) Cancel(ctx context.Context, key wire.Key, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodDelete, path: pathOf(key)}, wait)
}

// Fire rings a timer now.
func (t Timers) Fire(ctx context.Context, key wire.Key, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPost, path: pathOf(key) + "/fire", once: true}, wait)
}

// Pause stops a timer, and Resume lets it go on. The timer shows the note.
func (t Timers) Pause(ctx context.Context, key wire.Key, note string) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPost, path: pathOf(key) + "/pause", body: notes(note), once: true}, nil)
}

// Resume is the opposite of [Timers.Pause].
func (t Timers) Resume(ctx context.Context, key wire.Key, note string) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPost, path: pathOf(key) + "/resume", body: notes(note), once: true}, nil)
}

func notes(note string) any {
	if note == "" {
		return nil
	}
	return map[string]string{"note": note}
}

// Redeliver tries a failed timer again, under the same webhook id.
func (t Timers) Redeliver(ctx context.Context, key wire.Key) (view timer.View, err error) {
	_, err = t.caller.do(ctx, call{method: http.MethodPost, path: pathOf(key) + "/redeliver", once: true}, &view)
	return view, err
}

// Get returns a timer as it stands.
func (t Timers) Get(ctx context.Context, key wire.Key) (view timer.View, err error) {
	_, err = t.caller.do(ctx, call{method: http.MethodGet, path: pathOf(key)}, &view)
	return view, err
}

// Payload returns what a timer sends to its receiver, JSON byte for byte. It has no data where the
// timer sends none, and where the key has no right to see payloads.
func (t Timers) Payload(ctx context.Context, key wire.Key) (timer.Payload, error) {
	var shown struct {
		JSON        json.RawMessage `json:"payload"`
		Base64      []byte          `json:"payload_base64"`
		ContentType string          `json:"content_type"`
	}
	call := call{method: http.MethodGet, path: pathOf(key), query: url.Values{"payload": {"true"}}}
	if _, err := t.caller.do(ctx, call, &shown); err != nil {
		return timer.Payload{}, err
	}
	if shown.Base64 != nil {
		return timer.Payload{Data: shown.Base64, ContentType: shown.ContentType, Base64: true}, nil
	}
	return timer.Payload{Data: shown.JSON, ContentType: shown.ContentType}, nil
}

// Attempts lists the attempts that were made for a timer, newest first. It ends with the
// first error.
func (t Timers) Attempts(ctx context.Context, key wire.Key) iter.Seq2[delivery.ShownAttempt, error] {
	return pagesOf[delivery.ShownAttempt](ctx, t.caller, call{path: pathOf(key) + "/attempts"}, "attempts")
}

// History tells the whole story of a timer, with who did what: pages from the latest back,
// and those of a page in the order in which they happened. It ends with the first error.
func (t Timers) History(ctx context.Context, key wire.Key) iter.Seq2[[]timer.HistoryEntry, error] {
	return wholePagesOf[timer.HistoryEntry](ctx, t.caller, call{path: pathOf(key) + "/history"}, "entries")
}

// Why says why a timer is where it is. The first fact is the answer.
func (t Timers) Why(ctx context.Context, key wire.Key) ([]timer.Fact, error) {
	var shown struct {
		Facts []timer.Fact `json:"facts"`
	}
	_, err := t.caller.do(ctx, call{path: pathOf(key) + "/why"}, &shown)
	return shown.Facts, err
}

// Filter selects timers. Its zero value selects all of them.
type Filter struct {
	BusinessType string
	// BusinessID finds the timers with this id, of whatever type.
	BusinessID string
	Status     timer.Status
	// Labels finds the timers that have all of them.
	Labels timer.Labels
	// Sort is [timer.DueFirst] or [timer.DueLast]; "" has the open timers first, and then those that
	// ended last.
	Sort timer.Sort
	// DueFrom and DueTo bound the due time, EndedFrom and EndedTo when the timer
	// ended, all of them included; zero for open.
	DueFrom, DueTo, EndedFrom, EndedTo time.Time
}

func (f Filter) query() url.Values {
	query := url.Values{}
	for _, keyword := range f.Labels.Keywords() {
		query.Add("label", keyword)
	}
	add := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	add("business_type", f.BusinessType)
	add("business_id", f.BusinessID)
	add("status", string(f.Status))
	add("sort", string(f.Sort))
	for name, at := range map[string]time.Time{
		"due_from": f.DueFrom, "due_to": f.DueTo, "ended_from": f.EndedFrom, "ended_to": f.EndedTo,
	} {
		if !at.IsZero() {
			add(name, wire.At(at).String())
		}
	}
	return query
}

// List reads page after page, which lag behind by a moment. It ends with the first
// problem.
func (t Timers) List(ctx context.Context, filter Filter) iter.Seq2[timer.View, error] {
	return pagesOf[timer.View](ctx, t.caller, call{path: timersPath, query: filter.query()}, "timers")
}

// change makes a call that changes a timer.
func (t Timers) change(ctx context.Context, call call, wait Wait) (view timer.View, pending bool, err error) {
	if wait != nil {
		call.query = url.Values{"wait": {wait.String()}}
	}
	status, err := t.caller.do(ctx, call, &view)
	return view, status == http.StatusAccepted, err
}

func pathOf(key wire.Key) string {
	return timersPath + "/" + url.PathEscape(key.BusinessType) + "/" + url.PathEscape(key.BusinessID)
}
