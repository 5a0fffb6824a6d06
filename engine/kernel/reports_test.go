package kernel

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/engine/enginetest"
)

// The report of a try goes along as the details of a heartbeat, and what is no
// report does not.
func TestAReportIsKept(t *testing.T) {
	report := enginetest.Encoded(t, delivery.Report{Result: delivery.ResultRetry, Attempt: 3})
	other := enginetest.Encoded(t, map[string]int{"found": 7})
	for name, c := range map[string]struct {
		request any
		kept    *commonpb.Payloads
	}{
		"a report":        {&workflowservice.RespondActivityTaskFailedRequest{Failure: enginetest.Failure(report)}, report},
		"another failure": {&workflowservice.RespondActivityTaskFailedRequest{Failure: enginetest.Failure(other)}, nil},
		"no details":      {&workflowservice.RespondActivityTaskFailedRequest{Failure: enginetest.Failure(nil)}, nil},
		"details already": {&workflowservice.RespondActivityTaskFailedRequest{Failure: enginetest.Failure(report), LastHeartbeatDetails: other}, other},
		"another call":    {&workflowservice.RespondActivityTaskCompletedRequest{}, nil},
	} {
		sent := 0
		invoke := func(_ context.Context, _ string, request, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			sent++
			if request, ok := request.(*workflowservice.RespondActivityTaskFailedRequest); ok {
				require.Equal(t, c.kept, request.GetLastHeartbeatDetails(), name)
			}
			return nil
		}
		require.NoError(t, keepReport(t.Context(), "", c.request, nil, nil, invoke))
		require.Equal(t, 1, sent, name)
	}
}

// What was recorded last is the failure's, or the heartbeat's where the worker of
// the last try died.
func TestTheLastReport(t *testing.T) {
	second, third := enginetest.Encoded(t, delivery.Report{Result: delivery.ResultRetry, Attempt: 2}), enginetest.Encoded(t, delivery.Report{Result: delivery.ResultRetry, Attempt: 3})
	died := &failurepb.Failure{FailureInfo: &failurepb.Failure_TimeoutFailureInfo{TimeoutFailureInfo: &failurepb.TimeoutFailureInfo{}}}
	for name, c := range map[string]struct {
		pending *workflowpb.PendingActivityInfo
		attempt int
	}{
		"none":                         {&workflowpb.PendingActivityInfo{}, 0},
		"in the failure":               {&workflowpb.PendingActivityInfo{LastFailure: enginetest.Failure(third), HeartbeatDetails: second}, 3},
		"of a try whose worker died":   {&workflowpb.PendingActivityInfo{LastFailure: died, HeartbeatDetails: third}, 3},
		"nothing before a worker died": {&workflowpb.PendingActivityInfo{LastFailure: died}, 0},
	} {
		report, ok := LastReport(c.pending)
		require.Equal(t, c.attempt != 0, ok, name)
		require.Equal(t, c.attempt, report.Attempt, name)
	}
}
