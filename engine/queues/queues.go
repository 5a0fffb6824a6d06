package queues

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/registry"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/workflows"
)

// Queues are the task queues of business types with a policy: one for each type. Temporal
// holds it to the policy's rate.
type Queues struct {
	kernel   *kernel.Kernel
	policies *policies.Policies
	registry registry.Registry
}

// New returns the queues of a namespace.
func New(k *kernel.Kernel, policies *policies.Policies) *Queues {
	return &Queues{kernel: k, policies: policies, registry: registry.New(k)}
}

// SetQueueRate sets the rate of a business type's two queues: the one of its attempts, and
// the one of attempts at receivers that connect. Only one of them is in use. Temporal stores
// the rate and holds all workers together to it. The error is [wire.Unavailable].
func (q *Queues) SetQueueRate(ctx context.Context, g policy.QueueRate) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	return errors.Join(
		q.setRate(ctx, workflows.DeliveryQueue(g.BusinessType), g),
		q.setRate(ctx, workflows.StreamQueue(g.BusinessType), g),
	)
}

func (q *Queues) setRate(ctx context.Context, queue string, g policy.QueueRate) error {
	update := &workflowservice.UpdateTaskQueueConfigRequest_RateLimitUpdate{Reason: "wakecall policy"}
	if g.Rate != nil {
		update.RateLimit = &taskqueuepb.RateLimit{RequestsPerSecond: float32(*g.Rate)}
	}
	_, err := q.kernel.Client.WorkflowService().UpdateTaskQueueConfig(ctx, &workflowservice.UpdateTaskQueueConfigRequest{
		Namespace: q.kernel.Namespace, Identity: actors.Identity, TaskQueue: queue,
		TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, UpdateQueueRateLimit: update,
	})
	return kernel.Translate(err)
}

// Backlogged reports whether attempts of a business type wait on a queue for a worker, a
// receiver, a pause or a limit.
func (q *Queues) Backlogged(ctx context.Context, businessType, queue string) (bool, error) {
	policy, err := q.policies.Cached(ctx, businessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return false, err
	}
	if policy.Rate(time.Now()) != nil {
		return true, nil
	}
	described, err := q.Describe(ctx, queue)
	if err != nil {
		return false, err
	}
	return described.GetStats().GetApproximateBacklogCount() > 0 || len(described.GetPollers()) == 0, nil
}

// Needed reports whether a business type has a policy in force, or attempts that wait on one
// of its queues. It asks the policy and the queues themselves, not Temporal's visibility.
// The error is [wire.Unavailable].
func (q *Queues) Needed(ctx context.Context, businessType string) (bool, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	_, inForce, err := q.policies.Record(ctx, businessType)
	if inForce || err != nil && wire.CodeOf(err) != wire.NotFound {
		return inForce, err
	}
	for _, queue := range []string{workflows.DeliveryQueue(businessType), workflows.StreamQueue(businessType)} {
		described, err := q.Describe(ctx, queue)
		if err != nil || described.GetStats().GetApproximateBacklogCount() > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// Outlived reports whether a business type has open timers or dispatches, as far as
// visibility shows them. The error is [wire.Unavailable].
func (q *Queues) Outlived(ctx context.Context, businessType string) (bool, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	for _, open := range []query.Query{visibility.OpenTimers(businessType), visibility.OpenDispatches(businessType)} {
		if n, err := q.kernel.Count(ctx, open); n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}

// Waiting returns how many attempts of a business type wait for a connected receiver with
// room, and how long the first of them has waited. Cancelled attempts stay in the queue
// until the next poll, so it counts no more than the delivering timers that visibility
// shows. The error is [wire.Unavailable].
func (q *Queues) Waiting(ctx context.Context, businessType string) (attempts int, longest time.Duration, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	described, err := q.Describe(ctx, workflows.StreamQueue(businessType))
	if err != nil {
		return 0, 0, err
	}
	backlog := int(described.GetStats().GetApproximateBacklogCount())
	if backlog == 0 {
		return 0, 0, nil
	}
	delivering, err := q.kernel.Count(ctx, query.All(visibility.OpenTimers(businessType), visibility.Retrying()))
	if err != nil || delivering == 0 {
		return 0, 0, err
	}
	return min(backlog, delivering), described.GetStats().GetApproximateBacklogAge().AsDuration(), nil
}

// Polled returns when a gateway last asked for attempts at its connected receivers of a
// type, zero if none did lately. The error is [wire.Unavailable].
func (q *Queues) Polled(ctx context.Context, businessType string) (last time.Time, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	described, err := q.Describe(ctx, workflows.StreamQueue(businessType))
	if err != nil {
		return time.Time{}, err
	}
	for _, poller := range described.GetPollers() {
		if at := poller.GetLastAccessTime().AsTime(); !strings.HasSuffix(poller.GetIdentity(), workflows.Drains) && at.After(last) {
			last = at
		}
	}
	return last, nil
}

// Poller is a process that asks Temporal for work.
type Poller struct {
	Identity string
	// At is when it asked last.
	At time.Time
}

// Workers returns the workers that have asked for work within the last minutes, the latest first: each
// polls [workflows.ControlQueue]. The caller bounds it in time. The error is [wire.Unavailable].
func (q *Queues) Workers(ctx context.Context) ([]Poller, error) {
	described, err := q.Describe(ctx, workflows.ControlQueue)
	if err != nil {
		return nil, err
	}
	pollers := make([]Poller, 0, len(described.GetPollers()))
	for _, p := range described.GetPollers() {
		pollers = append(pollers, Poller{p.GetIdentity(), p.GetLastAccessTime().AsTime()})
	}
	slices.SortFunc(pollers, func(a, b Poller) int { return b.At.Compare(a.At) })
	return pollers, nil
}

// Describe returns what Temporal knows of the activities of a queue. The caller bounds it in
// time. The error is [wire.Unavailable].
func (q *Queues) Describe(ctx context.Context, queue string) (*workflowservice.DescribeTaskQueueResponse, error) {
	return q.describe(ctx, queue, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
}

// DescribeFirst is [Queues.Describe] of the workflow tasks of a queue: first attempts are part of them.
func (q *Queues) DescribeFirst(ctx context.Context, queue string) (*workflowservice.DescribeTaskQueueResponse, error) {
	return q.describe(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
}

func (q *Queues) describe(ctx context.Context, queue string, of enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	described, err := q.kernel.Client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: q.kernel.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue},
		TaskQueueType: of, ReportStats: true,
	})
	return described, kernel.Translate(err)
}
