package kernel

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/internal/tuning"
)

// A server that drops a notice answers when the time of the call is nearly up.
func TestALongPollForAnEndIsShort(t *testing.T) {
	const patience = 20 * time.Second
	end := enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT
	for name, c := range map[string]struct {
		request any
		within  time.Duration
	}{
		"for an end": {&workflowservice.GetWorkflowExecutionHistoryRequest{WaitNewEvent: true, HistoryEventFilterType: end}, tuning.EndPoll},
		"for each event": {
			&workflowservice.GetWorkflowExecutionHistoryRequest{
				WaitNewEvent: true, HistoryEventFilterType: enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT,
			}, patience,
		},
		"for a task": {&workflowservice.PollWorkflowTaskQueueRequest{}, patience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				began := time.Now()
				err := boundEndPoll(ctx, "", c.request, nil, nil, untilNearlyLate)
				require.NoError(t, err)
				require.Equal(t, c.within-time.Second, time.Since(began))
			})
		})
	}
}

//nolint:revive // gRPC's signature
func untilNearlyLate(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
	deadline, _ := ctx.Deadline()
	<-time.After(time.Until(deadline) - time.Second)
	return nil
}

func TestALateAnswerOfAnEndIsNotTheCallersTime(t *testing.T) {
	request := &workflowservice.GetWorkflowExecutionHistoryRequest{
		WaitNewEvent: true, HistoryEventFilterType: enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
	}
	for name, c := range map[string]struct {
		patience time.Duration
		calls    int
		code     codes.Code
	}{
		"time is left":   {time.Minute, 3, codes.OK},
		"the time is up": {4 * time.Second, 2, codes.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.patience)
				defer cancel()
				calls := 0
				err := boundEndPoll(ctx, "", request, nil, nil, func(
					ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption,
				) error {
					if calls++; calls == 3 {
						return nil
					}
					<-ctx.Done()
					return status.FromContextError(ctx.Err()).Err()
				})
				require.Equal(t, c.code, status.Code(err))
				require.Equal(t, c.calls, calls)
			})
		})
	}
}
