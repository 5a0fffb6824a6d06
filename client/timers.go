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

// Timers manages timers.
type Timers struct{ caller *caller }

// Wait is how long a change waits for its effect: the API's default if nil, not at all if zero.
type Wait = *wire.Duration

// Add books a timer. created is false if the same one exists already. A repeated call books no
// second timer, even if the first has ended.
func (t Timers) Add(ctx context.Context, b Booking) (booked timer.View, created bool, err error) {
	call := call{method: http.MethodPost, path: timersPath, body: b, header: idempotent()}
	status, err := t.caller.do(ctx, call, &booked)
	return booked, status == http.StatusCreated, err
}

// idempotent returns the header of a booking: the tries of one call are one request.
func idempotent() http.Header {
	return http.Header{"Idempotency-Key": {strconv.Quote(uuid.NewString())}}
}

// Added is the result of one booking in a batch.
type Added struct {
	Status int        `json:"status"`
	Timer  timer.View `json:"timer"`
	// ExpectedLateness is the probable lateness of the timer if more falls due than the limit of
	// its business type allows; 0 if unknown.
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

// AddBatch books up to 1,000 timers. Each is admitted or refused individually. The results are
// in the order of the bookings.
func (t Timers) AddBatch(ctx context.Context, bookings []Booking) ([]Added, error) {
	var answer struct{ Results []Added }
	_, err := t.caller.do(ctx, call{
		method: http.MethodPost, path: timersPath + "/batch", body: map[string][]Booking{"timers": bookings}, header: idempotent(),
	}, &answer)
	return answer.Results, err
}

// Put books a timer or replaces the present one, in one atomic step. pending reports whether no
// worker has applied it in time: it is durable, and is applied before any callback.
func (t Timers) Put(ctx context.Context, b Booking, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPut, path: pathOf(b.Key), body: b.Terms}, wait)
}

// Patch moves or edits a timer.
func (t Timers) Patch(ctx context.Context, key wire.Key, terms Terms, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPatch, path: pathOf(key), body: terms}, wait)
}

// Cancel cancels a timer. It succeeds for a cancelled one.
func (t Timers) Cancel(ctx context.Context, key wire.Key, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodDelete, path: pathOf(key)}, wait)
}

// Fire rings a timer now.
func (t Timers) Fire(ctx context.Context, key wire.Key, wait Wait) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPost, path: pathOf(key) + "/fire", once: true}, wait)
}

// Pause pauses a timer. The timer shows the note.
func (t Timers) Pause(ctx context.Context, key wire.Key, note string) (view timer.View, pending bool, err error) {
	return t.change(ctx, call{method: http.MethodPost, path: pathOf(key) + "/pause", body: notes(note), once: true}, nil)
}

// Resume resumes a paused timer.
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

// Get returns a timer.
func (t Timers) Get(ctx context.Context, key wire.Key) (view timer.View, err error) {
	_, err = t.caller.do(ctx, call{method: http.MethodGet, path: pathOf(key)}, &view)
	return view, err
}

// Payload returns the payload of a timer, JSON byte for byte. It is empty if the timer has none,
// and if the key may not see payloads.
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

// Attempts lists the attempts of a timer, newest first. It ends with the first error.
func (t Timers) Attempts(ctx context.Context, key wire.Key) iter.Seq2[delivery.ShownAttempt, error] {
	return pagesOf[delivery.ShownAttempt](ctx, t.caller, call{path: pathOf(key) + "/attempts"}, "attempts")
}

// History returns the history of a timer, with the author of each change. Pages go back from the
// latest, and each page is in order of time. It ends with the first error.
func (t Timers) History(ctx context.Context, key wire.Key) iter.Seq2[[]timer.HistoryEntry, error] {
	return wholePagesOf[timer.HistoryEntry](ctx, t.caller, call{path: pathOf(key) + "/history"}, "entries")
}

// Why returns the reasons for the state of a timer, the most important first.
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
	// BusinessID finds the timers with this id, of any type.
	BusinessID string
	Status     timer.Status
	// Labels finds the timers with all of these labels.
	Labels timer.Labels
	// Recurring finds recurring timers only.
	Recurring bool
	// RunID finds the timer that has, or had, a run of Temporal's. WebhookID finds the timer of a
	// delivery that waits for its acknowledgement. Each stands alone.
	RunID, WebhookID string
	// Sort is [timer.DueFirst] or [timer.DueLast]. "" puts the open timers first, and then the
	// latest ended ones.
	Sort timer.Sort
	// DueFrom and DueTo bound the due time, EndedFrom and EndedTo the end of the timer, all
	// included; zero for no bound.
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
	add("run_id", f.RunID)
	add("webhook_id", f.WebhookID)
	if f.Recurring {
		add("recurring", "true")
	}
	for name, at := range map[string]time.Time{
		"due_from": f.DueFrom, "due_to": f.DueTo, "ended_from": f.EndedFrom, "ended_to": f.EndedTo,
	} {
		if !at.IsZero() {
			add(name, wire.At(at).String())
		}
	}
	return query
}

// List lists timers page by page. Lists lag behind by a moment. It ends with the first error.
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
