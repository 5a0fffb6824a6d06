package engine

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// SetQueueRate gives the queue of a business type its rate. Temporal stores it and
// holds all workers together to it. Its error is [timer.Unavailable].
func (e *Engine) SetQueueRate(ctx context.Context, g timer.QueueRate) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	update := &workflowservice.UpdateTaskQueueConfigRequest_RateLimitUpdate{Reason: "wakecall policy"}
	if g.Rate != nil {
		update.RateLimit = &taskqueuepb.RateLimit{RequestsPerSecond: float32(*g.Rate)}
	}
	_, err := e.Client.WorkflowService().UpdateTaskQueueConfig(ctx, &workflowservice.UpdateTaskQueueConfigRequest{
		Namespace: e.Namespace, Identity: "wakecall", TaskQueue: workflows.DeliveryQueue(g.BusinessType),
		TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, UpdateQueueRateLimit: update,
	})
	return translate(err)
}

// pressureStep is how much longer a wish for patience must be than the one in
// force to be worth telling: a herd of refused callbacks repeats it.
const pressureStep = time.Second

// HoldBack makes a receiver's wish for patience hold for its whole type: here
// at once, everywhere as soon as the policy's entity has taken it. Its errors
// are [timer.NotFound] and [timer.Unavailable].
func (e *Engine) HoldBack(ctx context.Context, businessType string, wish timer.BackPressure) error {
	if !e.policies.hold(businessType, wish) {
		return nil
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	err := e.Client.SignalWorkflow(ctx, workflows.PolicyID(businessType), "", workflows.SignalBackPressure, wish)
	if err != nil { // nobody else has heard of it, so the next wish is news
		e.policies.forget(businessType)
	}
	return translate(err)
}

// LiftBackPressure puts an end to the back-pressure of a business type, if there
// is any: here at once, everywhere within seconds. It needs a worker. Its errors
// are [timer.NotFound] and [timer.Unavailable].
func (e *Engine) LiftBackPressure(ctx context.Context, businessType string) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	defer e.policies.forget(businessType)
	return e.updateEntity(ctx, businessType, workflows.UpdateLiftPressure)
}

// updateEntity has the entity of a policy do something, and waits until it has.
func (e *Engine) updateEntity(ctx context.Context, businessType, update string, args ...any) error {
	handle, err := e.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflows.PolicyID(businessType), UpdateName: update,
		Args: args, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	if is[*serviceerror.NotFound](err) {
		return noPolicy
	}
	return translate(err)
}
