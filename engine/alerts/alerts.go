package alerts

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Alerts raises the alerts that no workflow raises.
type Alerts struct {
	kernel   *kernel.Kernel
	policies *policies.Policies
}

// New returns the Alerts of a namespace.
func New(k *kernel.Kernel, policies *policies.Policies) *Alerts {
	return &Alerts{kernel: k, policies: policies}
}

// Raise raises an event. One occasion raises one alert, however often Raise is called. A
// business type without alerts gets none. The error is [wire.Unavailable].
func (a *Alerts) Raise(ctx context.Context, event timer.Event, occasion string) error {
	policy, err := a.policies.Cached(ctx, event.Data.BusinessType)
	if wire.CodeOf(err) == wire.NotFound || (err == nil && policy.Alert == nil) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	_, err = a.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.AlertID(event.Type, event.Data.BusinessType+":"+occasion), TaskQueue: workflows.TaskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         string(event.Type) + " of " + event.Data.BusinessType,
	}, workflows.TypeAlert, event)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return nil
	}
	return kernel.Translate(err)
}
