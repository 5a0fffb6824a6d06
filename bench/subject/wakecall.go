package subject

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/bench/stage"
)

// wakecall is used as any client would: over its HTTP API. Temporal is only
// asked what it has written.
type wakecall struct {
	deployment deployment
	api        api
	receiver   string
	temporal   client.Client
}

// The business types of the timers here.
const (
	plain     = "bench"
	preloaded = "bench-preloaded"
)

type object map[string]any

// Start starts Wakecall and puts the policy.
func (w *wakecall) Start(s *stage.Stage, receiver string) error {
	found, err := w.deployment.start(s)
	if err != nil {
		return err
	}
	w.receiver, w.api = receiver, newAPI(found)
	if w.temporal, err = dial(s.Context(), found.temporal); err != nil {
		return err
	}
	return w.policy(s.Context(), plain, object{})
}

func (w *wakecall) policy(ctx context.Context, kind string, policy object) error {
	policy["callback"] = object{"url": w.receiver}
	_, err := w.api.do(ctx, "PUT", "/v1/policies/"+kind, policy)
	return err
}

// Preload puts the policy of the timers that are held for long.
func (w *wakecall) Preload(ctx context.Context, lead time.Duration) error {
	return unsupported(w.policy(ctx, preloaded, object{"preload": lead.String()}))
}

func booking(timer Timer) object {
	return object{
		"business_type": kindOf(timer), "business_id": timer.ID, "due_at": instant(timer.Due),
		"payload": json.RawMessage(payload(timer.ID)),
	}
}

func kindOf(timer Timer) string {
	if timer.Preload {
		return preloaded
	}
	return plain
}

// instant is a moment as the API takes it.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Add posts a timer.
func (w *wakecall) Add(ctx context.Context, timer Timer) error {
	_, err := w.api.do(ctx, "POST", "/v1/timers", booking(timer))
	return err
}

// AddBatch posts a batch.
func (w *wakecall) AddBatch(ctx context.Context, timers []Timer) (booked int, err error) {
	bodies := make([]object, len(timers))
	for i, timer := range timers {
		bodies[i] = booking(timer)
	}
	answer, err := w.api.do(ctx, "POST", "/v1/timers/batch", object{"timers": bodies})
	if err != nil {
		return 0, err
	}
	var batch struct {
		Results []struct {
			Status  int             `json:"status"`
			Problem json.RawMessage `json:"problem"`
		} `json:"results"`
	}
	if err := json.Unmarshal(answer.body, &batch); err != nil {
		return 0, err
	}
	for i, result := range batch.Results {
		if result.Status != http.StatusCreated {
			err = fmt.Errorf("timer %s of a batch: %d %s", timers[i].ID, result.Status, result.Problem)
			continue
		}
		booked++
	}
	return booked, err
}

func path(id string) string { return "/v1/timers/" + plain + "/" + id }

// Move patches the due time.
func (w *wakecall) Move(ctx context.Context, timer Timer) (Answer, error) {
	return effect(w.api.do(ctx, "PATCH", path(timer.ID), object{"due_at": instant(timer.Due)}))
}

// Cancel deletes the timer.
func (w *wakecall) Cancel(ctx context.Context, id string) (Answer, error) {
	return effect(w.api.do(ctx, "DELETE", path(id), nil))
}

// Recur books a recurring timer.
func (w *wakecall) Recur(ctx context.Context, id string, every time.Duration) error {
	body := booking(Timer{ID: id})
	delete(body, "due_at")
	body["recurrence"] = object{"every": every.String(), "offset": "0s"}
	_, err := w.api.do(ctx, "POST", "/v1/timers", body)
	return unsupported(err)
}

// Rest cancels a recurring timer.
func (w *wakecall) Rest(ctx context.Context, id string) error {
	_, err := w.Cancel(ctx, id)
	return err
}

// Recurred sums up the runs of the timer's workflow: each but the last one has
// rung.
func (w *wakecall) Recurred(ctx context.Context, id string) (Recurred, error) {
	runs, err := trails(ctx, w.temporal, fmt.Sprintf(`WorkflowId = %q`, plain+"/"+id))
	if err != nil {
		return Recurred{}, err
	}
	return Recurred{Trail: sum(runs), Occurrences: len(runs) - 1}, nil
}

// Counters are those of Wakecall's store.
func (w *wakecall) Counters(ctx context.Context) (Counters, error) { return w.deployment.counters(ctx) }

// Trail describes the timer's workflow.
func (w *wakecall) Trail(ctx context.Context, timer Timer) (Trail, error) {
	return trail(ctx, w.temporal, kindOf(timer)+"/"+timer.ID)
}

// Open counts workflows.
func (w *wakecall) Open(ctx context.Context) (int64, error) { return open(ctx, w.temporal) }

// Close disconnects from Temporal; the deployment ends with the stage.
func (w *wakecall) Close() error {
	if w.temporal != nil {
		w.temporal.Close()
	}
	return nil
}
