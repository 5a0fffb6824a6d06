package systems

import (
	"context"
	"fmt"
	"net/http"
	"time"

	temporal "go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// wakecall uses Wakecall as any client would: over its HTTP API. Temporal is only asked what
// it has written.
type wakecall struct {
	stage      *stage.Stage
	deployment deployment
	api        *client.Client
	temporal   temporal.Client
	// callback and declare are those of the policies.
	callback delivery.Destination
	declare  *delivery.Declare
}

// The business types of the timers here.
const (
	plain     = "bench"
	preloaded = "bench-preloaded"
)

// Start starts Wakecall and puts the policy.
func (w *wakecall) Start(s *stage.Stage, receiver string) error {
	w.stage = s
	found, err := w.deployment.start(s)
	if err != nil {
		return err
	}
	if w.api = newAPI(found); !w.callback.Addressed() {
		w.callback = delivery.HTTP(receiver)
	}
	if w.temporal, err = dial(s.Context(), found.temporal); err != nil {
		return err
	}
	return w.policy(s.Context(), plain, 0)
}

func (w *wakecall) policy(ctx context.Context, kind string, preload time.Duration) error {
	policy := map[string]any{"callback": delivery.Callback{Destination: w.callback}}
	if w.declare != nil {
		policy["declare"] = w.declare
	}
	if preload > 0 {
		policy["preload"] = wire.Duration(preload)
	}
	_, err := w.api.Policies.Put(ctx, kind, policy, 0)
	return err
}

// Preload puts the policy of the timers with a long hold.
func (w *wakecall) Preload(ctx context.Context, lead time.Duration) error {
	return unsupported(w.policy(ctx, preloaded, lead))
}

func booking(t Timer) client.Booking {
	return client.Booking{Key: keyOf(t), Terms: client.Terms{DueAt: wire.At(t.Due), Payload: payload(t.ID)}}
}

func keyOf(t Timer) wire.Key { return wire.Key{BusinessType: kindOf(t), BusinessID: t.ID} }

func kindOf(t Timer) string {
	if t.Preload {
		return preloaded
	}
	return plain
}

// Add posts a timer.
func (w *wakecall) Add(ctx context.Context, t Timer) error {
	_, _, err := w.api.Timers.Add(ctx, booking(t))
	return err
}

// AddBatch posts a batch.
func (w *wakecall) AddBatch(ctx context.Context, timers []Timer) (booked int, err error) {
	bookings := make([]client.Booking, len(timers))
	for i, t := range timers {
		bookings[i] = booking(t)
	}
	added, err := w.api.Timers.AddBatch(ctx, bookings)
	for i, one := range added {
		if one.Status != http.StatusCreated {
			err = fmt.Errorf("timer %s of a batch: %d %w", timers[i].ID, one.Status, one.Problem)
			continue
		}
		booked++
	}
	return booked, err
}

// Move patches the due time.
func (w *wakecall) Move(ctx context.Context, t Timer) (Answer, error) {
	return effect(w.api.Timers.Patch(ctx, keyOf(t), client.Terms{DueAt: wire.At(t.Due)}, nil))
}

// Cancel deletes the timer.
func (w *wakecall) Cancel(ctx context.Context, id string) (Answer, error) {
	return effect(w.api.Timers.Cancel(ctx, keyOf(Timer{ID: id}), nil))
}

// Recur books a recurring timer.
func (w *wakecall) Recur(ctx context.Context, id string, every time.Duration) error {
	recurring := booking(Timer{ID: id})
	recurring.DueAt, recurring.Recurrence = 0, &recurrence.Rule{Every: client.After(every), Offset: client.After(0)}
	_, _, err := w.api.Timers.Add(ctx, recurring)
	return unsupported(err)
}

// Rest cancels a recurring timer.
func (w *wakecall) Rest(ctx context.Context, id string) error {
	_, err := w.Cancel(ctx, id)
	return err
}

// Recurred sums up the runs of the timer's workflow: each but the last one has rung.
func (w *wakecall) Recurred(ctx context.Context, id string) (Recurred, error) {
	runs, err := trails(ctx, w.temporal, fmt.Sprintf(`WorkflowId = %q`, plain+"/"+id))
	if err != nil {
		return Recurred{}, err
	}
	return Recurred{Trail: sum(runs), Occurrences: len(runs) - 1}, nil
}

// Kill ends the whole deployment.
func (w *wakecall) Kill() error { return w.deployment.kill(w.stage) }

// Revive starts it again.
func (w *wakecall) Revive() error { return w.deployment.revive(w.stage) }

// Counters are those of Wakecall's store.
func (w *wakecall) Counters(ctx context.Context) (Counters, error) { return w.deployment.counters(ctx) }

// Trail describes the timer's workflow.
func (w *wakecall) Trail(ctx context.Context, t Timer) (Trail, error) {
	return trail(ctx, w.temporal, keyOf(t).String())
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
