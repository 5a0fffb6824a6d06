package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/workflows"
)

// Queues are those of the business types that have a policy: each has one of its own,
// which Temporal holds to the policy's rate.
type Queues struct {
	*kernel
	policies *Policies
}

// SetQueueRate gives the queues of a business type their rate: that of its attempts, and
// that of those at receivers which connect by themselves, of which one is in use. Temporal
// stores it and holds all workers together to it. Its error is [wire.Unavailable].
func (q *Queues) SetQueueRate(ctx context.Context, g policy.QueueRate) error {
	ctx, cancel := bounded(ctx)
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
	_, err := q.client.WorkflowService().UpdateTaskQueueConfig(ctx, &workflowservice.UpdateTaskQueueConfigRequest{
		Namespace: q.namespace, Identity: ownIdentity, TaskQueue: queue,
		TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, UpdateQueueRateLimit: update,
	})
	return translate(err)
}

// backlogged is whether attempts of a business type wait on a queue for a worker, a
// receiver, a pause or a limit.
func (q *Queues) backlogged(ctx context.Context, businessType, queue string) (bool, error) {
	policy, err := q.policies.cached(ctx, businessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return false, err
	}
	if policy.Rate(time.Now()) != nil {
		return true, nil
	}
	described, err := q.describeQueue(ctx, queue)
	if err != nil {
		return false, err
	}
	return described.GetStats().GetApproximateBacklogCount() > 0 || len(described.GetPollers()) == 0, nil
}

// Needed is whether a business type has a policy in force, or attempts that wait on one of its
// queues. It asks what decides, and not Temporal's visibility. Its error is
// [wire.Unavailable].
func (q *Queues) Needed(ctx context.Context, businessType string) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, inForce, err := q.policies.record(ctx, businessType)
	if inForce || err != nil && wire.CodeOf(err) != wire.NotFound {
		return inForce, err
	}
	for _, queue := range []string{workflows.DeliveryQueue(businessType), workflows.StreamQueue(businessType)} {
		described, err := q.describeQueue(ctx, queue)
		if err != nil || described.GetStats().GetApproximateBacklogCount() > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// Outlived is whether a business type has timers or dispatches that are open, as far as
// visibility has heard. Its error is [wire.Unavailable].
func (q *Queues) Outlived(ctx context.Context, businessType string) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for _, open := range []query.Query{openOf(businessType), DispatchesRequest{BusinessType: businessType, Status: dispatch.Running}.query()} {
		if n, err := q.count(ctx, open); n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}

// Waiting tells how many attempts of a business type wait for a receiver that is connected
// and has room, and for how long the first of them has. What was cancelled meanwhile is
// in the queue until somebody polls it, so no more are counted than are delivered, as far
// as visibility has heard. Its error is [wire.Unavailable].
func (q *Queues) Waiting(ctx context.Context, businessType string) (attempts int, longest time.Duration, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	described, err := q.describeQueue(ctx, workflows.StreamQueue(businessType))
	if err != nil {
		return 0, 0, err
	}
	backlog := int(described.GetStats().GetApproximateBacklogCount())
	if backlog == 0 {
		return 0, 0, nil
	}
	delivering, err := q.count(ctx, query.All(openOf(businessType), retrying()))
	if err != nil || delivering == 0 {
		return 0, 0, err
	}
	return min(backlog, delivering), described.GetStats().GetApproximateBacklogAge().AsDuration(), nil
}

// Polled tells when a gateway last asked for attempts at receivers of a type that are
// connected to it, zero for not of late. Its error is [wire.Unavailable].
func (q *Queues) Polled(ctx context.Context, businessType string) (last time.Time, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	described, err := q.describeQueue(ctx, workflows.StreamQueue(businessType))
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

func (q *Queues) describeQueue(ctx context.Context, queue string) (*workflowservice.DescribeTaskQueueResponse, error) {
	described, err := q.client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: q.namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue},
		TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, ReportStats: true,
	})
	return described, translate(err)
}
