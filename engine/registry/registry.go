package registry

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// Registry is the workflow that names the business types with a policy.
type Registry struct{ kernel *kernel.Kernel }

// New returns the registry of a namespace.
func New(k *kernel.Kernel) Registry { return Registry{kernel: k} }

// Read reads the memo of the registry. A registry that was ended from outside still has its
// last memo.
func (r Registry) Read(ctx context.Context) (known workflows.Registered, err error) {
	described, err := r.kernel.Describe(ctx, workflows.RegistryID, "")
	if wire.CodeOf(err) == wire.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = kernel.ReadMemo(described.GetWorkflowExecutionInfo(), workflows.MemoRegistry, "registry", &known)
	return known, err
}

// Apply sends the registry a change. It needs no worker: the change is durable, and a worker
// that starts applies it before it reads.
func (r Registry) Apply(ctx context.Context, known workflows.Registered, change workflows.Registration) error {
	if known == nil {
		known = workflows.Registered{}
	}
	_, err := r.kernel.Client.SignalWithStartWorkflow(ctx, workflows.RegistryID, workflows.SignalRegister, change, client.StartWorkflowOptions{
		ID: workflows.RegistryID, TaskQueue: workflows.TaskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                  map[string]any{workflows.MemoRegistry: known},
		StaticSummary:         "business types that have a policy",
	}, workflows.TypeRegistry, known)
	return kernel.Translate(err)
}

// Add makes every worker poll the queue of a business type. It precedes the policy: an
// unneeded queue costs a poll, but an unknown policy costs its deliveries.
func (r Registry) Add(ctx context.Context, businessType string) error {
	known, err := r.Read(ctx)
	if err != nil {
		return err
	}
	return r.Apply(ctx, known, workflows.Registration{Add: []string{businessType}})
}
