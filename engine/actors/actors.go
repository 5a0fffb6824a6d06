package actors

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/workflows"
)

// Identity is Wakecall's own identity for calls that it makes for itself.
const Identity = "wakecall"

// Identify makes Temporal store the author of a change beside the change, as the identity of
// the call (docs/decisions/0074-who-calls.md). Workflows do not see
// it, so a replay does not either.
func Identify() grpc.DialOption { return grpc.WithChainUnaryInterceptor(identifyActor) }

//nolint:revive // gRPC's signature
func identifyActor(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if start, ok := request.(*workflowservice.StartWorkflowExecutionRequest); ok {
		writeAfter(ctx, start)
		if id, ok := ctx.Value(requestKey{}).(string); ok {
			start.RequestId = id
		}
	}
	if of, workflowID := identityOf(request); of != nil {
		if actor, known := audit.Actor(ctx, typeIn(workflowID)); known {
			*of = identity.With(identity.Process(*of), actor)
		}
	}
	return invoke(ctx, method, request, reply, conn, options...)
}

// identityOf returns the identity field of a request, and the id of the workflow that it
// changes. It is nil for a request that changes no timer, policy or job.
func identityOf(request any) (of *string, workflowID string) {
	switch r := request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		return &r.Identity, r.GetWorkflowId()
	case *workflowservice.SignalWorkflowExecutionRequest:
		return &r.Identity, r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.SignalWithStartWorkflowExecutionRequest:
		return &r.Identity, r.GetWorkflowId()
	case *workflowservice.UpdateWorkflowExecutionRequest:
		if meta := r.GetRequest().GetMeta(); meta != nil {
			return &meta.Identity, r.GetWorkflowExecution().GetWorkflowId()
		}
	case *workflowservice.RequestCancelWorkflowExecutionRequest:
		return &r.Identity, r.GetWorkflowExecution().GetWorkflowId()
	case *workflowservice.TerminateWorkflowExecutionRequest:
		return &r.Identity, r.GetWorkflowExecution().GetWorkflowId()
	}
	return nil, ""
}

type afterKey struct{}

// WithRunBefore makes a start name the run whose timer is tried again.
func WithRunBefore(ctx context.Context, runID string) context.Context {
	return context.WithValue(ctx, afterKey{}, runID)
}

func writeAfter(ctx context.Context, start *workflowservice.StartWorkflowExecutionRequest) {
	run, ok := ctx.Value(afterKey{}).(string)
	if !ok {
		return
	}
	if start.GetHeader().GetFields() == nil {
		start.Header = &commonpb.Header{Fields: map[string]*commonpb.Payload{}}
	}
	start.Header.Fields[workflows.HeaderAfter] = &commonpb.Payload{Data: strconv.AppendQuote(nil, run)}
}

type requestKey struct{}

// WithRequestID makes a start carry this id. Temporal starts nothing if the latest run of the workflow was
// started with the same id, also if that run has ended. It answers with that run, as if it had started it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RunBefore is the run that a start names, "" for none.
func RunBefore(header *commonpb.Header) (runID string) {
	if json.Unmarshal(header.GetFields()[workflows.HeaderAfter].GetData(), &runID) != nil {
		return ""
	}
	return runID
}

// typeIn is the business type of the workflow with an id, "" if it belongs to none.
func typeIn(workflowID string) string {
	if key, ok := wire.ParseKey(workflowID); ok {
		return key.BusinessType
	}
	if businessType, ok := workflows.PolicyOf(workflowID); ok {
		return businessType
	}
	return ""
}
