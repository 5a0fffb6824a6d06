package kernel

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/delivery"
)

// KeepReports puts the report of each try of a delivery where it outlives later tries. If the
// next try leaves none, because its worker died, Temporal forgets the failure of the last one.
// The details of a heartbeat stay. They go along with the failure, and cost no separate write.
func KeepReports() grpc.DialOption { return grpc.WithChainUnaryInterceptor(keepReport) }

//nolint:revive // gRPC's signature
func keepReport(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if failed, ok := request.(*workflowservice.RespondActivityTaskFailedRequest); ok && failed.GetLastHeartbeatDetails() == nil {
		if _, ok := reportIn(failed.GetFailure()); ok {
			failed.LastHeartbeatDetails = failed.GetFailure().GetApplicationFailureInfo().GetDetails()
		}
	}
	return invoke(ctx, method, request, reply, conn, options...)
}

// LastReport is the last report that a delivery left.
func LastReport(pending *workflowpb.PendingActivityInfo) (delivery.Report, bool) {
	if report, ok := reportIn(pending.GetLastFailure()); ok {
		return report, true
	}
	return DecodeReport(pending.GetHeartbeatDetails())
}

func reportIn(failure *failurepb.Failure) (delivery.Report, bool) {
	return DecodeReport(failure.GetApplicationFailureInfo().GetDetails())
}

// DecodeReport reads the report of a try. ok is false if the details hold none.
func DecodeReport(details *commonpb.Payloads) (report delivery.Report, ok bool) {
	if len(details.GetPayloads()) == 0 || Payloads.FromPayload(details.GetPayloads()[0], &report) != nil {
		return delivery.Report{}, false
	}
	return report, report.Result != ""
}
