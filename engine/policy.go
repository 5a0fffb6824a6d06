package engine

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// PolicyChange is a policy to be stored.
type PolicyChange struct {
	Policy timer.Policy
	// IfVersion, when set, must be the stored version; MustExist, that there
	// is one.
	IfVersion int
	MustExist bool
	// KeepSecrets and KeepHeaders keep what is write-only and was left out.
	KeepSecrets bool
	KeepHeaders []string
	Author      string
}

var noPolicy = &timer.Error{Code: timer.NotFound, Message: "The business type has no policy."}

// Policy returns the policy of a business type, its secrets opened, from a
// cache that is a few seconds old at the most. It needs no worker. Its errors
// are [timer.NotFound] and [timer.Unavailable].
func (e *Engine) Policy(ctx context.Context, businessType string) (timer.Policy, error) {
	return e.policies.get(ctx, businessType)
}

// readPolicy reads a policy from the memo of its entity.
func (e *Engine) readPolicy(ctx context.Context, businessType string) (timer.Policy, error) {
	record, open, err := e.policyRecord(ctx, businessType)
	if err != nil {
		return timer.Policy{}, err
	}
	if !open {
		return timer.Policy{}, noPolicy
	}
	return e.openPolicy(record.Policy)
}

// StoredPolicy returns the policy as it is stored now, its secrets sealed.
func (e *Engine) StoredPolicy(ctx context.Context, businessType string) (timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	record, open, err := e.policyRecord(ctx, businessType)
	if err == nil && !open {
		err = noPolicy
	}
	return record.Policy, err
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

// PutPolicy stores a policy. Making one needs no worker; replacing one does,
// since the worker decides between competing changes. It answers with the
// policy as it is stored, its secrets sealed. Its errors are
// [timer.InvalidRequest], [timer.PreconditionFailed] and [timer.Unavailable].
func (e *Engine) PutPolicy(ctx context.Context, change PolicyChange) (_ timer.Policy, created bool, err error) {
	if err := change.Policy.Check().Err(); err != nil {
		return timer.Policy{}, false, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	defer e.policies.forget(change.Policy.BusinessType)
	sealed, err := e.sealPolicy(change.Policy.WithDefaults())
	if err != nil {
		return timer.Policy{}, false, err
	}
	put := workflows.PutPolicy{
		Record:    workflows.PolicyRecord{Policy: sealed, ChangedAt: timer.At(time.Now()), ChangedBy: change.Author},
		IfVersion: change.IfVersion, KeepSecrets: change.KeepSecrets, KeepHeaders: change.KeepHeaders,
	}
	record, created, err := e.storePolicy(ctx, put, change.MustExist || change.IfVersion != 0)
	return record.Policy, created, err
}

func (e *Engine) storePolicy(ctx context.Context, put workflows.PutPolicy, mustExist bool) (workflows.PolicyRecord, bool, error) {
	last, open, err := e.policyRecord(ctx, put.Record.Policy.BusinessType)
	if err != nil && timer.CodeOf(err) != timer.NotFound {
		return workflows.PolicyRecord{}, false, err
	}
	if open {
		record, err := e.updatePolicy(ctx, put)
		return record, false, err
	}
	if mustExist {
		return workflows.PolicyRecord{}, false, stalePolicy
	}
	// Versions go on after a policy was deleted: an ETag never comes twice.
	put.Record.Policy.Version = last.Policy.Version + 1
	record, err := e.createPolicy(ctx, put)
	return record, true, err
}

var stalePolicy = &timer.Error{
	Code: timer.PreconditionFailed, Message: "The policy has another version than If-Match names.",
}

func (e *Engine) createPolicy(ctx context.Context, put workflows.PutPolicy) (workflows.PolicyRecord, error) {
	for _, name := range put.KeepHeaders { // there is nothing to keep
		delete(put.Record.Policy.Callback.Headers, name)
	}
	businessType := put.Record.Policy.BusinessType
	options := client.StartWorkflowOptions{
		ID:                                       workflows.PolicyID(businessType),
		TaskQueue:                                workflows.TaskQueue,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                                     map[string]any{workflows.MemoPolicy: put.Record},
		// No search attribute: who cancels timers by query means no policy.
		StaticSummary: "policy of " + businessType,
	}
	_, err := e.Client.ExecuteWorkflow(ctx, options, workflows.TypePolicy, put.Record)
	if is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return e.updatePolicy(ctx, put)
	}
	return put.Record, translate(err)
}

func (e *Engine) updatePolicy(ctx context.Context, put workflows.PutPolicy) (record workflows.PolicyRecord, err error) {
	handle, err := e.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflows.PolicyID(put.Record.Policy.BusinessType), UpdateName: workflows.UpdatePutPolicy,
		Args: []any{put}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &record)
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == workflows.ErrorVersion {
		return record, stalePolicy
	}
	return record, translate(err)
}

// DeletePolicy deletes a policy. Timers of its type that are still open, and
// have no callback of their own, fail when they are due. Its errors are
// [timer.NotFound] and [timer.Unavailable].
func (e *Engine) DeletePolicy(ctx context.Context, businessType, author string) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	defer e.policies.forget(businessType)
	err := e.Client.TerminateWorkflow(ctx, workflows.PolicyID(businessType), "", "policy deleted by "+author)
	if is[*serviceerror.NotFound](err) {
		return noPolicy
	}
	return translate(err)
}

// Policies lists every policy, secrets sealed, by way of Temporal's visibility.
func (e *Engine) Policies(ctx context.Context) ([]timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	policies, token := []timer.Policy{}, []byte(nil)
	for {
		response, err := e.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: e.Namespace, NextPageToken: token, PageSize: 1000,
			Query: "WorkflowType = '" + workflows.TypePolicy + "' AND ExecutionStatus = 'Running'",
		})
		if err != nil {
			return nil, translate(err)
		}
		for _, info := range response.GetExecutions() {
			record, err := recordOf(info)
			if err != nil {
				return nil, err
			}
			policies = append(policies, record.Policy)
		}
		if token = response.GetNextPageToken(); len(token) == 0 {
			return policies, nil
		}
	}
}
