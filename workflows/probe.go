package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Probe answers the readiness check. An update completes once Temporal has stored it and a
// worker has handled it, the two things a timer needs.
func Probe(ctx workflow.Context) error {
	probes := 0
	err := workflow.SetUpdateHandler(ctx, UpdateProbe, func(workflow.Context) error {
		probes++
		return nil
	})
	if err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return probes >= tuning.PolicyUpdates && workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, TypeProbe)
}
