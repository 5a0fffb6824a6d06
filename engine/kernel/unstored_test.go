package kernel

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/internal/tuning"
)

func TestWhatWasNotStoredIsSentAgain(t *testing.T) {
	late := codes.DeadlineExceeded
	end, start := &workflowservice.RespondActivityTaskFailedRequest{}, &workflowservice.StartWorkflowExecutionRequest{RequestId: "r"}
	for name, c := range map[string]struct {
		request any
		answers []codes.Code
		calls   int
		code    codes.Code
	}{
		"an end, stored at last":         {end, []codes.Code{late, late, codes.OK}, 3, codes.OK},
		"an end that had been stored":    {end, []codes.Code{late, codes.NotFound}, 2, codes.NotFound},
		"the end of a workflow task":     {&workflowservice.RespondWorkflowTaskCompletedRequest{}, []codes.Code{late, codes.OK}, 2, codes.OK},
		"the end of a cancelled try":     {&workflowservice.RespondActivityTaskCanceledRequest{}, []codes.Code{late, codes.OK}, 2, codes.OK},
		"a delivery":                     {&workflowservice.RespondActivityTaskCompletedRequest{}, []codes.Code{late, codes.OK}, 2, codes.OK},
		"a booking":                      {start, []codes.Code{late, codes.OK}, 2, codes.OK},
		"a booking that others outrun":   {start, []codes.Code{late, codes.AlreadyExists}, 2, codes.AlreadyExists},
		"a start without a name":         {&workflowservice.StartWorkflowExecutionRequest{}, []codes.Code{late, codes.OK}, 1, late},
		"a change":                       {&workflowservice.SignalWorkflowExecutionRequest{RequestId: "r"}, []codes.Code{late, codes.OK}, 1, late},
		"a heartbeat":                    {&workflowservice.RecordActivityTaskHeartbeatRequest{}, []codes.Code{late, codes.OK}, 1, late},
		"what the SDK repeats by itself": {end, []codes.Code{codes.Unavailable, codes.OK}, 1, codes.Unavailable},
		"a store that never answers":     {end, slices.Repeat([]codes.Code{late}, 100), 4, late},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*tuning.UnstoredPause+10*time.Millisecond)
				defer cancel()
				calls := 0
				invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
					<-time.After(time.Millisecond)
					calls++
					return status.Error(c.answers[calls-1], "")
				}
				err := repeatUnstored(ctx, "", c.request, nil, nil, invoke)
				require.Equal(t, c.code, status.Code(err))
				require.Equal(t, c.calls, calls)
			})
		})
	}
}
