package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Order is the order of a job.
type Order interface {
	// Check returns the faults of the order, field by field.
	Check(now time.Time) wire.FieldErrors
}

// Kind holds the names of one kind of job, and the texts of its orders.
type Kind[O Order] struct {
	workflows.JobKind
	// Noun names a job of the kind in errors.
	Noun string
	// Settle fixes the parts of an order that depend on its moment. It may be nil.
	Settle func(order O, now wire.Instant) O
	// For records the author of an order, unless the order names one. It may be nil.
	For func(ctx context.Context, order O) O
	// Named reports whether an id may be that of a job of the kind. It is nil if this
	// package makes the ids.
	Named func(id string) bool
	// Summary is the Web UI's text for an order.
	Summary func(order O) string
}

// Jobs are the jobs of one kind: work on many items, each a workflow. C is the type of the
// kind's counts.
type Jobs[O Order, C any] struct {
	kernel *kernel.Kernel
	kind   Kind[O]
}

// New returns the jobs of a kind.
func New[O Order, C any](k *kernel.Kernel, kind Kind[O]) *Jobs[O, C] {
	return &Jobs[O, C]{kernel: k, kind: kind}
}

// Job is the state of a job.
type Job[O Order, C any] struct {
	ID     string
	Status job.Status
	// CancelRequested reports whether the job was stopped and still runs: no worker has seen
	// the request yet. Only [Jobs.Get] and [Jobs.Stop] set it.
	CancelRequested bool
	// WaitsFor is why a running job waits; empty if it does not.
	WaitsFor delivery.Waiting
	Order    O
	// Counts are about a second old while the job runs.
	Counts    C
	StartedAt wire.Instant
	// FinishedAt is zero while the job runs.
	FinishedAt wire.Instant
	Links      timer.Links
	// Again reports whether the same order was given before, so that this one has started
	// nothing.
	Again bool
}

// Start orders a job. The order is durable; a worker carries it out. The errors are
// [wire.InvalidRequest] and [wire.Unavailable].
func (j *Jobs[O, C]) Start(ctx context.Context, order O) (Job[O, C], error) {
	if err := order.Check(time.Now()).Err(); err != nil {
		return Job[O, C]{}, err
	}
	job, err := j.Begin(ctx, uuid.NewString(), order)
	return job, kernel.Translate(err)
}

// Begin starts the workflow of a checked order. The error is Temporal's own.
func (j *Jobs[O, C]) Begin(ctx context.Context, id string, order O) (Job[O, C], error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	now := wire.At(time.Now())
	if j.kind.Settle != nil {
		order = j.kind.Settle(order, now)
	}
	if j.kind.For != nil {
		order = j.kind.For(ctx, order)
	}
	run, err := j.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: j.kind.WorkflowID(id), TaskQueue: workflows.TaskQueue,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{j.kind.Memo: order},
		// No search attribute: a cancel of timers by query must not match a job.
		StaticSummary: j.kind.Summary(order),
	}, j.kind.Workflow, order)
	if err != nil {
		return Job[O, C]{}, err
	}
	return Job[O, C]{
		ID: id, Status: job.Running, Order: order, StartedAt: now, Links: j.links(id, run.GetRunID()),
	}, nil
}

// Get returns the state of a job. It needs no worker. The errors are [wire.NotFound] and
// [wire.Unavailable].
func (j *Jobs[O, C]) Get(ctx context.Context, id string) (Job[O, C], error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	if !j.named(id) {
		return Job[O, C]{}, j.unknown()
	}
	described, err := j.kernel.Describe(ctx, j.kind.WorkflowID(id), "")
	if wire.CodeOf(err) == wire.NotFound {
		return Job[O, C]{}, j.unknown()
	}
	if err != nil {
		return Job[O, C]{}, err
	}
	info := described.GetWorkflowExecutionInfo()
	found, err := j.job(id, info)
	if err != nil {
		return Job[O, C]{}, err
	}
	switch {
	case found.Status == job.Running:
		found.CancelRequested = described.GetWorkflowExtendedInfo().GetCancelRequested()
		for _, pending := range described.GetPendingActivities() {
			found.WaitsFor = jobWaitsFor(pending)
		}
	case info.GetStatus() != visibility.Terminated:
		found.Counts, err = j.result(ctx, info)
		return found, err
	}
	found.Counts = lastCounts[C](described.GetPendingActivities())
	return found, nil
}

// lastCounts are the counts of the worker's last heartbeat. Temporal keeps it for a terminated
// job, which has no result.
func lastCounts[C any](activities []*workflowpb.PendingActivityInfo) (counts C) {
	for _, pending := range activities {
		var last C
		if kernel.Payloads.FromPayloads(pending.GetHeartbeatDetails(), &last) == nil {
			counts = last
		}
	}
	return counts
}

// jobWaitsFor is why a job waits, from the activity that carries it out.
func jobWaitsFor(pending *workflowpb.PendingActivityInfo) delivery.Waiting {
	var at job.Position
	switch {
	case kernel.Unclaimed(pending, time.Now()) != 0:
		return delivery.WaitsForWorker
	case kernel.Payloads.FromPayloads(pending.GetHeartbeatDetails(), &at) == nil && at.Waits != 0:
		return delivery.WaitsForTurn
	}
	return ""
}

// Stop stops a job, and waits at most wait for the effect. Afterwards it may still be
// running, if no worker has seen the request. A job that has ended stays unchanged. The
// errors are those of [Jobs.Get].
func (j *Jobs[O, C]) Stop(ctx context.Context, id string, wait time.Duration) (Job[O, C], error) {
	found, err := j.Get(ctx, id)
	if err != nil || found.Status != job.Running {
		return found, err
	}
	call, cancel := kernel.Bounded(ctx)
	defer cancel()
	err = kernel.Translate(j.kernel.Client.CancelWorkflow(call, j.kind.WorkflowID(id), ""))
	switch {
	case wire.CodeOf(err) == wire.NotFound: // deleted in this moment
		return Job[O, C]{}, j.unknown()
	case err != nil:
		return Job[O, C]{}, err
	}
	waiting, stop := j.kernel.Waiting(ctx, wait)
	defer stop()
	// The answer is the state after the wait, however the job ends, and also if it does not.
	_ = j.kernel.Client.GetWorkflow(waiting, j.kind.WorkflowID(id), "").Get(waiting, nil)
	return j.Get(ctx, id)
}

// named reports whether an id may be that of a job.
func (j *Jobs[O, C]) named(id string) bool {
	if j.kind.Named != nil {
		return j.kind.Named(id)
	}
	parsed, err := uuid.Parse(id)
	return err == nil && parsed.String() == id
}

func (j *Jobs[O, C]) unknown() error { return NoSuchJob(j.kind.Noun) }

// BulkNoun is the noun of bulk jobs.
const BulkNoun = "bulk job"

// NoSuchJob is the error for a missing job of the kind with a noun.
func NoSuchJob(noun string) error {
	return &wire.Error{Code: wire.NotFound, Message: "There is no such " + noun + "."}
}

func (j *Jobs[O, C]) links(id, runID string) timer.Links {
	return timer.Links{WebUI: j.kernel.Link(j.kind.WorkflowID(id), runID)}
}

// job is the state of a job as far as a workflow's info shows it.
func (j *Jobs[O, C]) job(id string, info *workflowpb.WorkflowExecutionInfo) (job Job[O, C], err error) {
	if info.GetType().GetName() != j.kind.Workflow {
		return job, j.unknown()
	}
	job = Job[O, C]{
		ID: id, Status: jobStatus(info.GetStatus()), StartedAt: wire.At(info.GetStartTime().AsTime()),
		Links: j.links(id, info.GetExecution().GetRunId()),
	}
	if closed := info.GetCloseTime(); closed != nil {
		job.FinishedAt = wire.At(closed.AsTime())
	}
	return job, kernel.ReadMemo(info, j.kind.Memo, j.kind.Noun, &job.Order)
}

// result is the counts of a job that has ended. They are missing for a job that was stopped
// while no worker had it.
func (j *Jobs[O, C]) result(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (counts C, err error) {
	run := j.kernel.Client.GetWorkflow(ctx, info.GetExecution().GetWorkflowId(), info.GetExecution().GetRunId())
	err = run.Get(ctx, &counts)
	if stopped, ok := errors.AsType[*temporal.CanceledError](err); ok && stopped.HasDetails() {
		err = stopped.Details(&counts)
		return counts, err
	}
	if errtype.Is[*temporal.WorkflowExecutionError](err) {
		return counts, nil
	}
	return counts, kernel.Translate(err)
}
