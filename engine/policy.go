package engine

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

var noPolicy = &timer.Error{Code: timer.NotFound, Message: "The business type has no policy."}

// Policy returns the policy of a business type, its secrets opened, from a
// cache that is a few seconds old at the most. It needs no worker. Its errors
// are [timer.NotFound] and [timer.Unavailable].
func (e *Engine) Policy(ctx context.Context, businessType string) (timer.Policy, error) {
	return e.policies.get(ctx, businessType)
}

// StoredPolicy returns the policy as it is stored now, its secrets opened. Its
// errors are those of [Engine.Policy].
func (e *Engine) StoredPolicy(ctx context.Context, businessType string) (timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return e.readPolicy(ctx, businessType)
}

// readPolicy reads a policy from the memo of its entity.
func (e *Engine) readPolicy(ctx context.Context, businessType string) (timer.Policy, error) {
	began := timer.At(time.Now())
	record, open, err := e.policyRecord(ctx, businessType)
	if err != nil {
		return timer.Policy{}, err
	}
	if !open {
		return timer.Policy{}, noPolicy
	}
	policy, err := e.openPolicy(record.Policy)
	policy.ReadAt, policy.ClosedUntil = began, record.ClosedUntil
	return policy, err
}

// policyRecord is the stored record; open is false when it was deleted.
func (e *Engine) policyRecord(ctx context.Context, businessType string) (_ workflows.PolicyRecord, open bool, err error) {
	described, err := e.Client.DescribeWorkflowExecution(ctx, workflows.PolicyID(businessType), "")
	if is[*serviceerror.NotFound](err) {
		return workflows.PolicyRecord{}, false, noPolicy
	}
	if err != nil {
		return workflows.PolicyRecord{}, false, translate(err)
	}
	info := described.GetWorkflowExecutionInfo()
	record, err := recordOf(info)
	return record, info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, err
}

func recordOf(info *workflowpb.WorkflowExecutionInfo) (record workflows.PolicyRecord, err error) {
	if err := payloads.FromPayload(info.GetMemo().GetFields()[workflows.MemoPolicy], &record); err != nil {
		return record, &timer.Error{Code: timer.Internal, Message: "The policy's memo cannot be read.", Cause: err}
	}
	return record, nil
}
