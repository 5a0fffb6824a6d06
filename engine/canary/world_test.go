package canary

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/workflows"
)

// world is a Temporal with a worker and a gateway, any of which may have a fault. Its methods are
// for the test's bubble.
type world struct {
	*enginetest.Temporal
	worker enginetest.Worker
	hub    *stream.Hub
	canary *Canary

	mu    sync.Mutex
	beats []Beat
	// failed and took are the last measurements, by step.
	failed map[string]bool
	took   map[string]time.Duration
	// longest is how long the longest beat took.
	longest time.Duration
	// log is what was logged.
	log bytes.Buffer
	// held is the emergency in force, nil for none.
	held *policy.Emergency
	fault
}

// fault is what is wrong in a world; the zero value is nothing.
type fault struct {
	// calls fail with an error, by name; "" is every call.
	calls map[string]error
	// unpolled are the queues without a poller. Nothing rings then.
	unpolled []string
	// late is how much later than due a timer rings.
	late time.Duration
	// stuck has no timer ring, and unrecorded no ring be recorded.
	stuck, unrecorded bool
	// outcome is how a timer is recorded to have ended.
	outcome timer.Status
	// off is how far Temporal's clock is ahead of ours.
	off time.Duration
	// unlisted hides what has ended from visibility.
	unlisted bool
	// slow is how long each call takes.
	slow time.Duration
}

const gateway = "wakecall-1"

// newWorld returns a world in which nothing is wrong. It ends with ctx.
func newWorld(ctx context.Context, t *testing.T) *world {
	t.Helper()
	w := &world{Temporal: &enginetest.Temporal{}, failed: map[string]bool{}, took: map[string]time.Duration{}, hub: stream.NewHub(stream.Bounds{Connections: 1, PerType: 1}, func(string, int) {})}
	w.worker = enginetest.Worker{On: w.Temporal}
	w.Before = w.refuse
	w.canary = New(Config{
		Kernel: kernel.New(w, "default", ""), Receivers: w.hub, Emergencies: w, Observer: w,
		Logger: slog.New(slog.NewTextHandler(w, nil)), Gateway: gateway,
	})
	t.Cleanup(w.canary.Kernel.EndWaits)
	context.AfterFunc(ctx, w.hub.Close)
	return w
}

// Holding implements [Emergencies].
func (w *world) Holding(ctx context.Context, _ string) (*policy.Emergency, error) {
	w.tarry(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held, w.calls["Holding"]
}

// Write takes what is logged.
func (w *world) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(line)
}

// said is what was logged.
func (w *world) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// Booked implements [Observer].
func (w *world) Booked(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.longest = max(w.longest, time.Since(at))
	w.beats = append(w.beats, w.canary.Last())
}

// Stepped implements [Observer].
func (w *world) Stepped(step string, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed[step] = failed
}

// Took implements [Observer].
func (w *world) Took(step string, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took[step] = took
}

// measured reports whether a step was made, and whether it was the first to fail.
func (w *world) measured(step Step) (made, failed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, made = w.took[string(step)]
	return made, w.failed[string(step)]
}

func (w *world) seen() []Beat {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Beat(nil), w.beats...)
}

// set makes a fault.
func (w *world) set(f fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
	w.Unpolled = map[string]bool{}
	for _, queue := range f.unpolled {
		w.Unpolled[queue] = true
	}
}

// tarry waits as long as each call takes, or until its caller gives up.
func (w *world) tarry(ctx context.Context) {
	w.mu.Lock()
	slow := w.slow
	w.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
	}
}

func (w *world) refuse(call enginetest.Call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.calls[""], w.calls[call.Name])
}

// ExecuteWorkflow implements [client.Client]: the timer rings once it is due.
func (w *world) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, kind any, args ...any) (client.WorkflowRun, error) {
	w.tarry(ctx)
	run, err := w.Temporal.ExecuteWorkflow(ctx, o, kind, args...)
	if err == nil {
		spec := args[0].(timer.Spec)
		time.AfterFunc(o.StartDelay, func() { w.ring(spec) })
	}
	return run, err
}

// ring does what a worker does with a timer that is due.
func (w *world) ring(spec timer.Spec) {
	w.mu.Lock()
	f := w.fault
	w.mu.Unlock()
	if f.stuck || len(f.unpolled) > 0 {
		return
	}
	time.AfterFunc(f.late+time.Until(spec.DueAt.Time()), func() { w.deliver(spec, f) })
}

func (w *world) deliver(spec timer.Spec, f fault) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	came := w.hub.Ring(ctx, spec.BusinessType, stream.Ring{Headers: map[string]string{delivery.HeaderWebhookID: spec.WebhookID()}})
	switch {
	case !came.Delivered || f.unrecorded || w.RunsOf(spec.String()) == 0:
	case f.outcome != "":
		w.worker.Close(spec.String(), timer.Outcome{Status: f.outcome})
	default:
		w.worker.Deliver(spec.String())
	}
}

// DescribeWorkflowExecution implements [client.Client].
func (w *world) DescribeWorkflowExecution(ctx context.Context, id, run string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	w.tarry(ctx)
	described, err := w.Temporal.DescribeWorkflowExecution(ctx, id, run)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	described = proto.CloneOf(described)
	began := described.GetWorkflowExecutionInfo().GetStartTime().AsTime()
	described.WorkflowExecutionInfo.StartTime = timestamppb.New(began.Add(w.off))
	return described, nil
}

// CountWorkflow implements [client.Client].
func (w *world) CountWorkflow(ctx context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	w.tarry(ctx)
	answer, err := w.Temporal.CountWorkflow(ctx, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unlisted && err == nil {
		answer.Count = 0
	}
	return answer, err
}

var errAway = serviceerror.NewUnavailable("connection refused")

func streamQueue() string { return workflows.StreamQueue(policy.CanaryType(gateway)) }

func requireQuiet(t *testing.T, beats []Beat) {
	t.Helper()
	for _, beat := range beats {
		require.Empty(t, beat.Failed, "%s", beat.Why)
	}
}
