package kernel

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/wakecall/wakecall/internal/tuning"
)

// KeepDelays keeps the end of each delay in a request. Temporal counts a delay from its
// acceptance of the request: what the request waits for its turn, or is repeated, would be added.
// So it must come before all that makes requests wait. [RepeatUnstored] sends what is left of the
// delays with each try.
func KeepDelays() (grpc.DialOption, error) {
	known, err := lru.New[string, delays](tuning.KnownTasks)
	return grpc.WithChainUnaryInterceptor(delayed{known}.intercept), err
}

// delayed are the requests with delays that had no answer, and may be repeated.
type delayed struct{ known *lru.Cache[string, delays] }

//nolint:revive // gRPC's signature
func (d delayed) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	var one [1]*durationpb.Duration // more are rare
	id, all := delaysIn(request, one[:0])
	if len(all) == 0 {
		return invoke(ctx, method, request, reply, conn, options...)
	}
	kept, again := d.known.Get(id) // from the SDK, which repeats the request as it is
	if !again {
		kept = newDelays(all)
	}
	err := invoke(context.WithValue(ctx, delaysKey{}, kept), method, request, reply, conn, options...)
	switch status.Code(err) {
	case codes.OK, codes.AlreadyExists, codes.InvalidArgument, codes.NotFound: // nothing repeats it
		d.known.Remove(id)
	default:
		d.known.Add(id, kept)
	}
	return err
}

// delays are the delays of a request as they were at a moment.
type delays struct {
	since time.Time
	whole []time.Duration
}

func newDelays(all []*durationpb.Duration) delays {
	kept := delays{since: time.Now()}
	for _, delay := range all {
		kept.whole = append(kept.whole, delay.AsDuration())
	}
	return kept
}

// delaysKey is the key of the delays in a context.
type delaysKey struct{}

// shortenDelays sets the delays of a request to what is left of them.
func shortenDelays(ctx context.Context, request any) {
	kept, _ := ctx.Value(delaysKey{}).(delays)
	var one [1]*durationpb.Duration
	_, all := delaysIn(request, one[:0])
	if len(all) != len(kept.whole) {
		return
	}
	for i, whole := range kept.whole {
		left := durationpb.New(max(whole-time.Since(kept.since), time.Millisecond)) // zero may mean another one
		all[i].Seconds, all[i].Nanos = left.GetSeconds(), left.GetNanos()
	}
}

// delaysIn appends the delays in a request to all, and returns what identifies it.
func delaysIn(request any, all []*durationpb.Duration) (id string, _ []*durationpb.Duration) {
	add := func(delay *durationpb.Duration) {
		if delay.AsDuration() > 0 {
			all = append(all, delay)
		}
	}
	switch r := request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		add(r.GetWorkflowStartDelay())
		return r.GetRequestId(), all
	case *workflowservice.SignalWithStartWorkflowExecutionRequest:
		add(r.GetWorkflowStartDelay())
		return r.GetRequestId(), all
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		for _, command := range r.GetCommands() {
			add(command.GetContinueAsNewWorkflowExecutionCommandAttributes().GetBackoffStartInterval())
			add(command.GetStartTimerCommandAttributes().GetStartToFireTimeout())
		}
		return string(r.GetTaskToken()), all
	case *workflowservice.RespondActivityTaskFailedRequest:
		add(r.GetFailure().GetApplicationFailureInfo().GetNextRetryDelay())
		return string(r.GetTaskToken()), all
	default:
		return "", nil
	}
}
