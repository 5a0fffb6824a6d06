package engine

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"

	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// identity is what Wakecall calls itself before Temporal where it acts by a call of its own.
const ownIdentity = "wakecall"

// TellActors makes a client write who makes a change beside the change, as a header of the
// same event. Workflows are not told, so that nothing of it is replayed.
func TellActors() interceptor.ClientInterceptor { return &tellActors{} }

type tellActors struct {
	interceptor.ClientInterceptorBase
}

// InterceptClient implements [interceptor.ClientInterceptor].
func (*tellActors) InterceptClient(next interceptor.ClientOutboundInterceptor) interceptor.ClientOutboundInterceptor {
	return &actorTeller{interceptor.ClientOutboundInterceptorBase{Next: next}}
}

type actorTeller struct {
	interceptor.ClientOutboundInterceptorBase
}

// ExecuteWorkflow implements [interceptor.ClientOutboundInterceptor].
func (t *actorTeller) ExecuteWorkflow(ctx context.Context, in *interceptor.ClientExecuteWorkflowInput) (client.WorkflowRun, error) {
	writeActor(ctx, in.Options.ID)
	return t.Next.ExecuteWorkflow(ctx, in)
}

// SignalWorkflow implements [interceptor.ClientOutboundInterceptor].
func (t *actorTeller) SignalWorkflow(ctx context.Context, in *interceptor.ClientSignalWorkflowInput) error {
	writeActor(ctx, in.WorkflowID)
	return t.Next.SignalWorkflow(ctx, in)
}

// SignalWithStartWorkflow implements [interceptor.ClientOutboundInterceptor].
func (t *actorTeller) SignalWithStartWorkflow(ctx context.Context, in *interceptor.ClientSignalWithStartWorkflowInput) (client.WorkflowRun, error) {
	writeActor(ctx, in.Options.ID)
	return t.Next.SignalWithStartWorkflow(ctx, in)
}

// UpdateWorkflow implements [interceptor.ClientOutboundInterceptor].
func (t *actorTeller) UpdateWorkflow(ctx context.Context, in *interceptor.ClientUpdateWorkflowInput) (client.WorkflowUpdateHandle, error) {
	writeActor(ctx, in.WorkflowID)
	return t.Next.UpdateWorkflow(ctx, in)
}

// writeActor adds who makes a change to the header of the call that carries it.
func writeActor(ctx context.Context, workflowID string) {
	header := interceptor.Header(ctx)
	if header == nil {
		return
	}
	if run, ok := ctx.Value(afterKey{}).(string); ok {
		header[workflows.HeaderAfter] = &commonpb.Payload{Data: strconv.AppendQuote(nil, run)}
	}
	actor := audit.Actor(ctx, typeIn(workflowID))
	if actor == nil {
		return
	}
	if encoded := encodedActor(actor); encoded != nil {
		header[workflows.HeaderActor] = encoded
	}
}

type afterKey struct{}

// after has a start tell the run after which a timer is tried again.
func after(ctx context.Context, runID string) context.Context {
	return context.WithValue(ctx, afterKey{}, runID)
}

// runBefore is the run that a start tells, "" for none.
func runBefore(header *commonpb.Header) (runID string) {
	if json.Unmarshal(header.GetFields()[workflows.HeaderAfter].GetData(), &runID) != nil {
		return ""
	}
	return runID
}

// encodedActor is the actor as a header holds it: JSON that says of itself nothing more,
// since every booking pays for the metadata of a payload.
func encodedActor(actor *timer.Actor) *commonpb.Payload {
	text, err := json.Marshal(actor)
	if err != nil {
		return nil
	}
	return &commonpb.Payload{Data: text}
}

// typeIn is the business type whose workflow has an id, "" where it is of none.
func typeIn(workflowID string) string {
	if key, ok := timer.ParseKey(workflowID); ok {
		return key.BusinessType
	}
	if businessType, ok := workflows.PolicyOf(workflowID); ok {
		return businessType
	}
	return ""
}

// actorIn is who made the change that an event records; nil where nobody wrote that.
func actorIn(header *commonpb.Header) *timer.Actor {
	var actor timer.Actor
	if json.Unmarshal(header.GetFields()[workflows.HeaderActor].GetData(), &actor) != nil || actor.By == "" {
		return nil
	}
	return &actor
}

// causeOf is the reason that a request for cancellation gives, which has no header. It is ""
// for nobody.
func causeOf(ctx context.Context, key timer.Key) string {
	actor := audit.Actor(ctx, key.BusinessType)
	if actor == nil {
		return ""
	}
	text, err := json.Marshal(actor)
	if err != nil {
		return ""
	}
	return workflows.CauseActor + string(text)
}

// actorOfCause is the inverse of [causeOf]; nil for every other reason.
func actorOfCause(cause string) *timer.Actor {
	text, ok := strings.CutPrefix(cause, workflows.CauseActor)
	var actor timer.Actor
	if !ok || json.Unmarshal([]byte(text), &actor) != nil || actor.By == "" {
		return nil
	}
	return &actor
}
