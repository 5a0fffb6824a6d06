package completion

import (
	commandpb "go.temporal.io/api/command/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Observer learns how the workflow tasks of a connection ended.
type Observer interface {
	// Completed is called with each task that Temporal has recorded.
	Completed(workflowID, runID string, commands []*commandpb.Command)
	// Unanswered is called with a task that Temporal may have recorded. It is called for each try,
	// and Completed may follow.
	Unanswered(workflowID, runID string, commands []*commandpb.Command)
}

// mayBeRecorded reports whether a completion that failed may have been recorded. The answer may
// have been lost on its way. NotFound may be the answer to its repetition, inside the connection.
func mayBeRecorded(err error) bool {
	switch status.Code(err) {
	case codes.OK, codes.InvalidArgument, codes.FailedPrecondition, codes.ResourceExhausted, codes.PermissionDenied,
		codes.Unauthenticated, codes.Unimplemented:
		return false
	default:
		return true
	}
}
