package policies

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/registry"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// entities are the workflows that store policies, one for each.
type entities struct {
	kernel   *kernel.Kernel
	registry registry.Registry
}

// current is the record of a policy that was not deleted.
func (e *entities) current(ctx context.Context, businessType string) (workflows.PolicyRecord, error) {
	record, open, err := e.Record(ctx, businessType)
	if err == nil && !open {
		err = noPolicy
	}
	return record, err
}

// Record is the stored record; open is false if it was deleted.
func (e *entities) Record(ctx context.Context, businessType string) (_ workflows.PolicyRecord, open bool, err error) {
	described, err := e.kernel.Describe(ctx, workflows.PolicyID(businessType), "")
	if wire.CodeOf(err) == wire.NotFound {
		return workflows.PolicyRecord{}, false, noPolicy
	}
	if err != nil {
		return workflows.PolicyRecord{}, false, err
	}
	info := described.GetWorkflowExecutionInfo()
	record, err := recordOf(info)
	if err == nil && killed(info) {
		e.restart(ctx, record)
	}
	return record, !deleted(info), err
}

// deleted reports whether a call of the API deleted the policy: its entity has completed.
func deleted(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
}

// killed reports whether something else ended the entity: an operator, or Temporal itself.
// That does not end the policy, which stays in force.
func killed(info *workflowpb.WorkflowExecutionInfo) bool {
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED,
		enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return true
	default:
		return false
	}
}

// restart starts a killed entity again, from its last memo. Then it can be changed, sets the
// rate of its queue again, and outlives the retention. An entity that was deleted or
// restarted meanwhile stays so. If restart fails, the record stays in force, and the next
// reader tries again.
func (e *entities) restart(ctx context.Context, record workflows.PolicyRecord) {
	_ = e.startEntity(ctx, record, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
}

func recordOf(info *workflowpb.WorkflowExecutionInfo) (record workflows.PolicyRecord, err error) {
	err = kernel.ReadMemo(info, workflows.MemoPolicy, "policy", &record)
	return record, err
}

// updateEntity sends an update to the entity of a policy, and waits until it is complete.
func (e *entities) updateEntity(ctx context.Context, businessType, update string, args ...any) error {
	err := e.kernel.Update(ctx, workflows.PolicyID(businessType), update, args...)
	if errtype.Is[*serviceerror.NotFound](err) {
		return noPolicy
	}
	return kernel.Translate(err)
}

// startEntity starts the entity of a policy, unless one runs or reuse forbids it.
func (e *entities) startEntity(ctx context.Context, record workflows.PolicyRecord, reuse enumspb.WorkflowIdReusePolicy) error {
	if err := e.registry.Add(ctx, record.Policy.BusinessType); err != nil {
		return err
	}
	options := client.StartWorkflowOptions{
		ID:                                       workflows.PolicyID(record.Policy.BusinessType),
		TaskQueue:                                workflows.TaskQueue,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    reuse,
		Memo:                                     map[string]any{workflows.MemoPolicy: record},
		// No search attribute: a cancel of timers by query must not match a policy.
		StaticSummary: "policy of " + record.Policy.BusinessType,
	}
	_, err := e.kernel.Client.ExecuteWorkflow(ctx, options, workflows.TypePolicy, record)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return stalePolicy
	}
	return kernel.Translate(err)
}

// replace makes the entity of a policy take another one.
func (e *entities) replace(ctx context.Context, put workflows.PutPolicy) error {
	err := e.kernel.Update(ctx, workflows.PolicyID(put.Record.Policy.BusinessType), workflows.UpdatePutPolicy, put)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == workflows.ErrorVersion {
		return stalePolicy
	}
	if errtype.Is[*serviceerror.NotFound](err) { // deleted meanwhile
		return stalePolicy
	}
	return kernel.Translate(err)
}

// Listed lists one policy for each business type: the ones in force, and the last state of
// the deleted ones. It restarts killed entities.
func (e *entities) Listed(ctx context.Context) (inForce, gone []policy.Policy, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	infos, err := e.latestEntities(ctx)
	if err != nil {
		return nil, nil, err
	}
	inForce = []policy.Policy{}
	for _, info := range infos {
		record, err := recordOf(info)
		if err != nil {
			return nil, nil, err
		}
		if killed(info) {
			e.restart(ctx, record)
		}
		if deleted(info) {
			gone = append(gone, record.Policy)
		} else {
			inForce = append(inForce, record.Policy)
		}
	}
	return inForce, gone, nil
}

// latestEntities are the entities of all policies: of each business type the running one, or
// else the one that closed last. Visibility lists them in this order.
func (e *entities) latestEntities(ctx context.Context) (latest []*workflowpb.WorkflowExecutionInfo, err error) {
	seen := map[string]bool{}
	err = e.kernel.EachPage(ctx, visibility.Policies(), func(page []*workflowpb.WorkflowExecutionInfo) error {
		for _, info := range page {
			if id := info.GetExecution().GetWorkflowId(); !seen[id] {
				seen[id] = true
				latest = append(latest, info)
			}
		}
		return nil
	})
	return latest, err
}
