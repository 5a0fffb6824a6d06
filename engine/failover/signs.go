package failover

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workerpb "go.temporal.io/api/worker/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Sign is a sign of life of a process.
type Sign struct {
	// Worker is the identity of the process, which may be a gateway.
	Worker string
	// At is when it was given, by the clock of that process.
	At time.Time
	// Stopping is set once the process stops. It may still end attempts.
	Stopping bool
	// About describes the process. No worker is judged by it.
	About health.About
}

// Signs are the signs of life that processes give. Workers judge each other by theirs. They pass through the
// memory of Temporal's matching service and cost no write; a restart of that service loses
// them. Temporal calls these calls experimental. Nothing else in Wakecall makes them.
type Signs interface {
	// Give records a sign. It replaces the last one of the same process.
	Give(ctx context.Context, sign Sign) error
	// End removes the sign of a process that has stopped.
	End(ctx context.Context, worker string) error
	// List returns the last sign of each worker. Those of gateways and checks are not among them.
	List(ctx context.Context) ([]Sign, error)
	// ListAll returns the last sign of each process.
	ListAll(ctx context.Context) ([]Sign, error)
	// EndPolls ends the polls of a worker that cannot end them itself, so that no further
	// task is handed to it. Temporal refuses its new ones for half a minute. It takes no longer than a
	// sign may: a worker polls a queue for each business type.
	EndPolls(ctx context.Context, worker string) error
}

// NewSigns returns the signs of the processes of a namespace.
func NewSigns(k *kernel.Kernel) Signs { return &signs{k} }

type signs struct{ kernel *kernel.Kernel }

// sdkName is what signs name as the SDK, with the role. Their version is that of the program.
const sdkName = "wakecall-"

// Checking is the role of a check that gives a sign to see whether it is listed.
const Checking health.Role = "check"

// queueOf is the queue that the signs of a role name. It tells a sign from the heartbeats of the
// SDK's workers, which name the queue that they poll. Workers list one of the two: a gateway is not
// judged, nor by workers of earlier builds. Nor is a check, which gives one sign only.
func queueOf(role health.Role) string {
	if role == health.Gateway || role == Checking {
		return workflows.GatewaySignQueue
	}
	return workflows.SignQueue
}

func (s *signs) Give(ctx context.Context, sign Sign) error {
	status := enumspb.WORKER_STATUS_RUNNING
	if sign.Stopping {
		status = enumspb.WORKER_STATUS_SHUTTING_DOWN
	}
	about := sign.About
	return s.record(ctx, &workerpb.WorkerHeartbeat{
		WorkerInstanceKey: sign.Worker, WorkerIdentity: sign.Worker, TaskQueue: queueOf(about.Role), Status: status,
		HeartbeatTime: timestamppb.New(sign.At), StartTime: timestampOf(about.StartedAt),
		SdkName: sdkName + string(about.Role), SdkVersion: about.Version, HostInfo: &workerpb.WorkerHostInfo{HostName: about.Host},
		WorkflowTaskSlotsInfo: slotsOf(about.Preloaded), ActivityTaskSlotsInfo: slotsOf(about.InFlight),
	})
}

func timestampOf(at wire.Instant) *timestamppb.Timestamp {
	if at == 0 {
		return nil
	}
	return timestamppb.New(at.Time())
}

func slotsOf(used *int) *workerpb.WorkerSlotsInfo {
	if used == nil {
		return nil
	}
	return &workerpb.WorkerSlotsInfo{CurrentUsedSlots: int32(min(*used, math.MaxInt32))}
}

// aboutOf reads the description of a process. A process of an earlier build sends none, and is at
// least a worker.
func aboutOf(heartbeat *workerpb.WorkerHeartbeat) health.About {
	role, told := strings.CutPrefix(heartbeat.GetSdkName(), sdkName)
	if !told {
		return health.About{Role: health.Worker}
	}
	about := health.About{
		Role: health.Role(role), Version: heartbeat.GetSdkVersion(), Host: heartbeat.GetHostInfo().GetHostName(),
		Preloaded: usedOf(heartbeat.GetWorkflowTaskSlotsInfo()), InFlight: usedOf(heartbeat.GetActivityTaskSlotsInfo()),
	}
	if started := heartbeat.GetStartTime(); started != nil {
		about.StartedAt = wire.At(started.AsTime())
	}
	return about
}

func usedOf(slots *workerpb.WorkerSlotsInfo) *int {
	if slots == nil {
		return nil
	}
	used := int(slots.GetCurrentUsedSlots())
	return &used
}

func (s *signs) End(ctx context.Context, worker string) error {
	return s.record(ctx, &workerpb.WorkerHeartbeat{
		WorkerInstanceKey: worker, WorkerIdentity: worker, TaskQueue: workflows.SignQueue, Status: enumspb.WORKER_STATUS_SHUTDOWN,
	})
}

func (s *signs) record(ctx context.Context, heartbeat *workerpb.WorkerHeartbeat) error {
	ctx, cancel := context.WithTimeout(ctx, tuning.SignTimeout)
	defer cancel()
	_, err := s.kernel.Client.WorkflowService().RecordWorkerHeartbeat(ctx, &workflowservice.RecordWorkerHeartbeatRequest{
		Namespace: s.kernel.Namespace, Identity: heartbeat.GetWorkerIdentity(), WorkerHeartbeat: []*workerpb.WorkerHeartbeat{heartbeat},
	})
	return err
}

func (s *signs) List(ctx context.Context) ([]Sign, error) {
	return s.list(ctx, "TaskQueue = '"+workflows.SignQueue+"'")
}

func (s *signs) ListAll(ctx context.Context) ([]Sign, error) {
	return s.list(ctx, "TaskQueue = '"+workflows.SignQueue+"' OR TaskQueue = '"+workflows.GatewaySignQueue+"'")
}

func (s *signs) list(ctx context.Context, query string) ([]Sign, error) {
	heartbeats, err := s.heartbeats(ctx, query)
	listed := make([]Sign, 0, len(heartbeats))
	for _, heartbeat := range heartbeats {
		listed = append(listed, Sign{
			Worker: heartbeat.GetWorkerIdentity(), At: heartbeat.GetHeartbeatTime().AsTime(),
			Stopping: heartbeat.GetStatus() == enumspb.WORKER_STATUS_SHUTTING_DOWN, About: aboutOf(heartbeat),
		})
	}
	return listed, err
}

func (s *signs) EndPolls(ctx context.Context, worker string) error {
	ctx, cancel := context.WithTimeout(ctx, tuning.SignTimeout)
	defer cancel()
	heartbeats, err := s.heartbeats(ctx, "WorkerIdentity = '"+worker+"'")
	var ending errgroup.Group
	ending.SetLimit(tuning.FreesAtOnce)
	for _, heartbeat := range heartbeats {
		switch heartbeat.GetTaskQueue() {
		case workflows.SignQueue:
		case workflows.ReceiptQueue(worker): // if it lives after all, it shall answer
		default:
			ending.Go(func() error { return s.endPoll(ctx, heartbeat) })
		}
	}
	return errors.Join(err, ending.Wait())
}

func (s *signs) endPoll(ctx context.Context, heartbeat *workerpb.WorkerHeartbeat) error {
	_, err := s.kernel.Client.WorkflowService().ShutdownWorker(ctx, &workflowservice.ShutdownWorkerRequest{
		Namespace: s.kernel.Namespace, Identity: heartbeat.GetWorkerIdentity(), WorkerInstanceKey: heartbeat.GetWorkerInstanceKey(),
		TaskQueue: heartbeat.GetTaskQueue(), Reason: "it gives no sign of life",
	})
	return err
}

// heartbeats returns the last heartbeats of the workers that a query selects.
func (s *signs) heartbeats(ctx context.Context, query string) (heartbeats []*workerpb.WorkerHeartbeat, err error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.SignTimeout)
	defer cancel()
	listed, err := s.kernel.Client.WorkflowService().ListWorkers(ctx, &workflowservice.ListWorkersRequest{
		Namespace: s.kernel.Namespace, Query: query,
	})
	if err != nil {
		return nil, err
	}
	for _, info := range listed.GetWorkersInfo() { //nolint:staticcheck // one call in place of one for each worker
		heartbeats = append(heartbeats, info.GetWorkerHeartbeat())
	}
	if len(heartbeats) > 0 {
		return heartbeats, nil
	}
	for _, worker := range listed.GetWorkers() {
		described, err := s.kernel.Client.WorkflowService().DescribeWorker(ctx, &workflowservice.DescribeWorkerRequest{
			Namespace: s.kernel.Namespace, WorkerInstanceKey: worker.GetWorkerInstanceKey(),
		})
		if err != nil {
			return nil, err
		}
		heartbeats = append(heartbeats, described.GetWorkerInfo().GetWorkerHeartbeat())
	}
	return heartbeats, nil
}
