package kernel

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/wakecall/wakecall/internal/tuning"
)

// ends are a command that ends a run with a backoff, and one that starts a timer.
func ends(backoff, timer *durationpb.Duration) *workflowservice.RespondWorkflowTaskCompletedRequest {
	return &workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("t"), Commands: []*commandpb.Command{
		{Attributes: &commandpb.Command_ContinueAsNewWorkflowExecutionCommandAttributes{
			ContinueAsNewWorkflowExecutionCommandAttributes: &commandpb.ContinueAsNewWorkflowExecutionCommandAttributes{BackoffStartInterval: backoff},
		}},
		{Attributes: &commandpb.Command_StartTimerCommandAttributes{
			StartTimerCommandAttributes: &commandpb.StartTimerCommandAttributes{StartToFireTimeout: timer},
		}},
	}}
}

// fails is the end of an attempt that another one follows.
func fails(next *durationpb.Duration) *workflowservice.RespondActivityTaskFailedRequest {
	return &workflowservice.RespondActivityTaskFailedRequest{TaskToken: []byte("t"), Failure: &failurepb.Failure{
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{NextRetryDelay: next}},
	}}
}

// A timer that is booked, moved or tried again at a later try of a call is due when it was at the
// first. The call may wait for its turn before each try, and both the SDK and Wakecall repeat it.
func TestADelayThatWaitsBecomesShorter(t *testing.T) {
	t.Parallel()
	const turn, whole = time.Second, time.Minute
	for name, code := range map[string]codes.Code{"repeated by us": codes.DeadlineExceeded, "repeated by the SDK": codes.Unavailable} {
		for kind, request := range map[string]func(delay *durationpb.Duration) any{
			"start": func(d *durationpb.Duration) any {
				return &workflowservice.StartWorkflowExecutionRequest{RequestId: "r", WorkflowStartDelay: d}
			},
			"signal and start": func(d *durationpb.Duration) any {
				return &workflowservice.SignalWithStartWorkflowExecutionRequest{RequestId: "r", WorkflowStartDelay: d}
			},
			"backoff":  func(d *durationpb.Duration) any { return ends(d, nil) },
			"timer":    func(d *durationpb.Duration) any { return ends(nil, d) },
			"next try": func(d *durationpb.Duration) any { return fails(d) },
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					delay, began := durationpb.New(whole), time.Now()
					c := newChain(t, turn, func(try int) error {
						require.Equal(t, whole, time.Since(began)+delay.AsDuration(), "try %d", try)
						if try < 3 {
							return status.Error(code, "")
						}
						return nil
					})
					require.NoError(t, c.call(t.Context(), request(delay)))
					require.Equal(t, 3, c.tries)
					require.Zero(t, c.delayed.known.Len(), "it has its answer")
				})
			})
		}
	}
}

// What is due meanwhile begins at once. A delay of zero would mean something else.
func TestADelayThatHasPassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		passed, left := durationpb.New(time.Second), durationpb.New(time.Minute)
		c := newChain(t, 2*time.Second, func(int) error { return nil })
		require.NoError(t, c.call(t.Context(), ends(passed, left)))
		require.Equal(t, time.Millisecond, passed.AsDuration())
		require.Equal(t, 58*time.Second, left.AsDuration())
	})
}

// A request that is refused is not repeated, and is forgotten.
func TestADelayThatIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused := status.Error(codes.AlreadyExists, "")
		c := newChain(t, time.Second, func(int) error { return refused })
		require.Equal(t, refused, c.call(t.Context(), ends(durationpb.New(time.Minute), nil)))
		require.Zero(t, c.delayed.known.Len())
	})
}

// A request without a delay gets none: Temporal starts nothing eagerly that has one.
func TestARequestWithoutADelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := &workflowservice.StartWorkflowExecutionRequest{RequestId: "r"}
		c := newChain(t, time.Second, func(int) error { return nil })
		require.NoError(t, c.call(t.Context(), start))
		require.NoError(t, c.call(t.Context(), ends(nil, nil)))
		require.NoError(t, c.call(t.Context(), fails(nil)))
		require.Nil(t, start.GetWorkflowStartDelay())
		require.Zero(t, c.delayed.known.Len())
	})
}

// chain is what a request passes on its way to Temporal: the SDK's repetition, the delays that are
// kept, the wait for a turn, and our repetition.
type chain struct {
	delayed delayed
	turn    time.Duration
	answer  func(try int) error
	tries   int
}

func newChain(t *testing.T, turn time.Duration, answer func(try int) error) *chain {
	t.Helper()
	known, err := lru.New[string, delays](tuning.KnownTasks)
	require.NoError(t, err)
	return &chain{delayed: delayed{known}, turn: turn, answer: answer}
}

func (c *chain) call(ctx context.Context, request any) error {
	waits := func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, _ ...grpc.CallOption) error {
		<-time.After(c.turn)
		return repeatUnstored(ctx, method, request, reply, conn, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			c.tries++
			return c.answer(c.tries)
		})
	}
	for {
		err := c.delayed.intercept(ctx, "", request, nil, nil, waits)
		if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
			return err
		}
		<-time.After(c.turn)
	}
}
