package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/job"
)

// Registry is where workflows are registered: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register registers every workflow under its stored name.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Timer, workflow.RegisterOptions{Name: TypeTimer})
	r.RegisterWorkflowWithOptions(Timer, workflow.RegisterOptions{Name: TypeCanary})
	r.RegisterWorkflowWithOptions(Policy, workflow.RegisterOptions{Name: TypePolicy})
	r.RegisterWorkflowWithOptions(Alert, workflow.RegisterOptions{Name: TypeAlert})
	r.RegisterWorkflowWithOptions(TestRing, workflow.RegisterOptions{Name: TypeTestRing})
	r.RegisterWorkflowWithOptions(Job[job.Bulk, job.BulkProgress](BulkJob), workflow.RegisterOptions{Name: BulkJob.Workflow})
	r.RegisterWorkflowWithOptions(Dispatch, workflow.RegisterOptions{Name: TypeDispatch})
	r.RegisterWorkflowWithOptions(DispatchShard, workflow.RegisterOptions{Name: TypeDispatchShard})
	r.RegisterWorkflowWithOptions(Notify, workflow.RegisterOptions{Name: TypeNotify})
	r.RegisterWorkflowWithOptions(AnswerRing, workflow.RegisterOptions{Name: TypeAnswerRing})
	r.RegisterWorkflowWithOptions(PolicyRegistry, workflow.RegisterOptions{Name: TypeRegistry})
	r.RegisterWorkflowWithOptions(Ledger, workflow.RegisterOptions{Name: TypeLedger})
	r.RegisterWorkflowWithOptions(Probe, workflow.RegisterOptions{Name: TypeProbe})
}
