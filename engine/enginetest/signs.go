package enginetest

import (
	"context"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	workerpb "go.temporal.io/api/worker/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// RecordWorkerHeartbeat keeps the last sign of life of a worker.
func (s service) RecordWorkerHeartbeat(
	_ context.Context, r *workflowservice.RecordWorkerHeartbeatRequest, _ ...grpc.CallOption,
) (*workflowservice.RecordWorkerHeartbeatResponse, error) {
	call := Call{Name: "RecordWorkerHeartbeat", Of: r.GetIdentity()}
	return called(s.t, call, func() (*workflowservice.RecordWorkerHeartbeatResponse, error) {
		for _, heartbeat := range r.GetWorkerHeartbeat() {
			if s.t.signs == nil {
				s.t.signs = map[string]*workerpb.WorkerHeartbeat{}
			}
			s.t.signs[heartbeat.GetWorkerInstanceKey()] = heartbeat
			if heartbeat.GetStatus() == enumspb.WORKER_STATUS_SHUTDOWN {
				delete(s.t.signs, heartbeat.GetWorkerInstanceKey())
			}
		}
		return &workflowservice.RecordWorkerHeartbeatResponse{}, nil
	})
}

// ListWorkers lists the workers of the task queues that the query names.
func (s service) ListWorkers(
	_ context.Context, r *workflowservice.ListWorkersRequest, _ ...grpc.CallOption,
) (*workflowservice.ListWorkersResponse, error) {
	return called(s.t, Call{Name: "ListWorkers"}, func() (*workflowservice.ListWorkersResponse, error) {
		listed := &workflowservice.ListWorkersResponse{}
		for _, heartbeat := range s.t.signs {
			if !strings.Contains(r.GetQuery(), "'"+heartbeat.GetTaskQueue()+"'") {
				continue
			}
			info := &workerpb.WorkerInfo{WorkerHeartbeat: heartbeat}
			listed.WorkersInfo = append(listed.WorkersInfo, info) //nolint:staticcheck // what 1.32 answers
		}
		return listed, nil
	})
}

// ShutdownWorker ends no poll: the polls of this server end at once.
func (s service) ShutdownWorker(
	_ context.Context, r *workflowservice.ShutdownWorkerRequest, _ ...grpc.CallOption,
) (*workflowservice.ShutdownWorkerResponse, error) {
	return called(s.t, Call{Name: "ShutdownWorker", Of: r.GetWorkerInstanceKey()}, func() (*workflowservice.ShutdownWorkerResponse, error) {
		return &workflowservice.ShutdownWorkerResponse{}, nil
	})
}
