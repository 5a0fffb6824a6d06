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
// are [timer.NotFound], [timer.Unavailable], and [timer.Internal] where no
// configured key opens one of its secrets.
func (e *Engine) Policy(ctx context.Context, businessType string) (timer.Policy, error) {
	policy, err := e.policies.get(ctx, businessType)
	if err == nil && len(policy.Unopened) > 0 {
		return timer.Policy{}, unopened(policy)
	}
	return policy, err
}

// StoredPolicy returns the policy as it is stored now, its secrets sealed. Its
// errors are [timer.NotFound] and [timer.Unavailable].
func (e *Engine) StoredPolicy(ctx context.Context, businessType string) (timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	record, err := e.standing(ctx, businessType)
	record.Policy.ClosedUntil = record.ClosedUntil
	return record.Policy, err
}

// standing is the record of a policy that was not deleted.
func (e *Engine) standing(ctx context.Context, businessType string) (workflows.PolicyRecord, error) {
	record, open, err := e.policyRecord(ctx, businessType)
	if err == nil && !open {
		err = noPolicy
	}
	return record, err
}

// readPolicy reads a policy from the memo of its entity.
func (e *Engine) readPolicy(ctx context.Context, businessType string) (timer.Policy, error) {
	began := timer.At(time.Now())
	record, err := e.standing(ctx, businessType)
	if err != nil {
		return timer.Policy{}, err
	}
	policy := e.openPolicy(record.Policy)
	policy.ReadAt, policy.ClosedUntil = began, record.ClosedUntil
	return policy, nil
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
	if err == nil && killed(info) {
		e.revive(ctx, record)
	}
	return record, !deleted(info), err
}

// deleted is whether the policy was deleted by a call of the API: its entity has
// completed.
func deleted(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
}

// killed is whether the entity was ended by anything else: an operator, or
// Temporal itself. That says nothing of the policy, which holds as it stood.
func killed(info *workflowpb.WorkflowExecutionInfo) bool {
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED,
		enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return true
	default:
		return false
	}
}

// revive starts an entity that was killed anew, from what it last said, so that
// it can be changed, governs its queue again, and outlives the retention. One
// that was deleted or revived meanwhile stays so. Where it fails the record holds
// all the same, and the next reader tries again.
func (e *Engine) revive(ctx context.Context, record workflows.PolicyRecord) {
	_ = e.startEntity(ctx, record, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
}

func recordOf(info *workflowpb.WorkflowExecutionInfo) (record workflows.PolicyRecord, err error) {
	if err := payloads.FromPayload(info.GetMemo().GetFields()[workflows.MemoPolicy], &record); err != nil {
		return record, &timer.Error{Code: timer.Internal, Message: "The policy's memo cannot be read.", Cause: err}
	}
	return record, nil
}
