package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"

	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// caller is somebody whose role is named like the business type.
type caller struct{}

func (caller) Actor(businessType string) *timer.Actor {
	return &timer.Actor{Name: "shop", Role: businessType, By: "key", From: "192.0.2.1", RequestID: "aJmDBYAXpugjgGGRCeBfUDqMUTXzsbbo"}
}

func withCaller(t *testing.T) context.Context { return audit.With(t.Context(), caller{}) }

// Whose workflow it is says for which type the role is.
func TestWhoseWorkflow(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"order/1": "order", workflows.PolicyID("order"): "order", "bulk:7": "", workflows.RegistryID: "", workflows.EmergencyID("order"): "",
	} {
		require.Equal(t, want, typeIn(id), id)
	}
}

// Without a header of the call, nothing is written and nothing breaks.
func TestOutsideOfACallNothingIsWritten(t *testing.T) {
	t.Parallel()
	writeActor(audit.With(context.Background(), caller{}), "order/1")
}

func TestWhoIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	ctx := audit.With(context.Background(), caller{})
	want := caller{}.Actor("order")
	encoded := encodedActor(want)
	require.Equal(t, want, actorIn(&commonpb.Header{Fields: map[string]*commonpb.Payload{workflows.HeaderActor: encoded}}))
	cause := causeOf(ctx, timer.Key{BusinessType: "order", BusinessID: "1"})
	require.Equal(t, want, actorOfCause(cause))
	require.NotEqual(t, workflows.CauseChange, cause)
	require.Empty(t, causeOf(context.Background(), timer.Key{}))

	// What others wrote is nobody's.
	for _, header := range []*commonpb.Header{
		nil, {}, {Fields: map[string]*commonpb.Payload{workflows.HeaderActor: nil}}, {Fields: map[string]*commonpb.Payload{workflows.HeaderActor: {Data: []byte("x")}}},
		{Fields: map[string]*commonpb.Payload{workflows.HeaderActor: {Data: []byte(`{"name":"somebody"}`)}}},
	} {
		require.Nil(t, actorIn(header))
	}
	for _, cause := range []string{"", "by hand", workflows.CauseChange, workflows.CauseActor, workflows.CauseActor + "{", workflows.CauseActor + `{"name":"x"}`} {
		require.Nil(t, actorOfCause(cause))
	}
}

// outbound notes that it was called.
type outbound struct {
	interceptor.ClientOutboundInterceptorBase
	calls int
}

func (o *outbound) ExecuteWorkflow(context.Context, *interceptor.ClientExecuteWorkflowInput) (client.WorkflowRun, error) {
	o.calls++
	return nil, nil
}

func (o *outbound) SignalWorkflow(context.Context, *interceptor.ClientSignalWorkflowInput) error {
	o.calls++
	return nil
}

func (o *outbound) SignalWithStartWorkflow(context.Context, *interceptor.ClientSignalWithStartWorkflowInput) (client.WorkflowRun, error) {
	o.calls++
	return nil, nil
}

func (o *outbound) UpdateWorkflow(context.Context, *interceptor.ClientUpdateWorkflowInput) (client.WorkflowUpdateHandle, error) {
	o.calls++
	return nil, nil
}

// Every way to change a workflow goes on. A worker is not touched: no workflow is replayed with
// anything of this.
func TestTheInterceptorIsTheClientsOnly(t *testing.T) {
	t.Parallel()
	next := &outbound{}
	told := TellActors().InterceptClient(next)
	ctx, options := t.Context(), &client.StartWorkflowOptions{ID: "order/1"}
	_, err := told.ExecuteWorkflow(ctx, &interceptor.ClientExecuteWorkflowInput{Options: options})
	require.NoError(t, err)
	require.NoError(t, told.SignalWorkflow(ctx, &interceptor.ClientSignalWorkflowInput{}))
	_, err = told.SignalWithStartWorkflow(ctx, &interceptor.ClientSignalWithStartWorkflowInput{Options: options})
	require.NoError(t, err)
	_, err = told.UpdateWorkflow(ctx, &interceptor.ClientUpdateWorkflowInput{})
	require.NoError(t, err)
	require.Equal(t, 4, next.calls)
	_, worker := TellActors().(interceptor.WorkerInterceptor)
	require.False(t, worker)
}

// What it costs to say who makes a change.
func BenchmarkActor(b *testing.B) {
	ctx := audit.With(context.Background(), caller{})
	b.ReportAllocs()
	for b.Loop() {
		if encodedActor(audit.Actor(ctx, typeIn("order-close/order-4711"))) == nil {
			b.Fatal("nobody")
		}
	}
}
