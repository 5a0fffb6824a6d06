package policies

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// overtaken is a Temporal in which somebody else makes a policy first.
type overtaken struct {
	*enginetest.Temporal
	t     *testing.T
	first policy.Policy
}

func (o overtaken) ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	if options.ID != workflows.PolicyID(o.first.BusinessType) {
		return o.Temporal.ExecuteWorkflow(ctx, options, workflow, args...)
	}
	o.Policy(o.t, o.first)
	return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("", "", "")
}

// A policy that must be new replaces none, whether it was there or came first meanwhile.
func TestAPolicyThatMustBeNew(t *testing.T) {
	t.Parallel()
	policy := policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: delivery.HTTP("https://r.test/")}}.WithDefaults()
	policy.Version = 1
	temporal := overtaken{&enginetest.Temporal{}, t, policy}
	policies := New(kernel.New(temporal, "default", ""), Config{})
	change := Change{Policy: policy, MustBeNew: true, DryRun: true}
	planned, err := policies.Put(t.Context(), change)
	require.NoError(t, err)
	require.True(t, planned.Created)

	change.DryRun = false
	_, err = policies.Put(t.Context(), change)
	require.ErrorIs(t, err, policyExists, "somebody else was faster")
	_, err = policies.Put(t.Context(), change)
	require.ErrorIs(t, err, policyExists)
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err))

	change.MustBeNew = false
	unchanged, err := policies.Put(t.Context(), change)
	require.NoError(t, err)
	require.False(t, unchanged.Created)
}
