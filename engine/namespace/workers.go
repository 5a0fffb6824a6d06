package namespace

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
)

// The faults of a Temporal that keeps no signs of life, and that ends no polls.
const (
	notSigning = "workers do not hear of one another: what a dead worker holds waits for its timeout, up to two minutes; " +
		"set frontend.WorkerHeartbeatsEnabled to true"
	notEndingPolls = "a frozen worker goes on to take tasks, which wait until it thaws or they time out; " +
		"set frontend.enableCancelWorkerPollsOnShutdown to true"
)

// lacking returns a check of an ability of Temporal, which reports the fault if the ability is missing. It is
// missing too if the server does not know a call, or has it switched off.
func lacking(fault string, check func(context.Context) (able bool, unknown error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (wrong string, unknown error) {
		able, unknown := check(ctx)
		switch {
		case errtype.Is[*serviceerror.Unimplemented](unknown):
			return fault, nil
		case able || unknown != nil:
			return "", unknown
		default:
			return fault, nil
		}
	}
}

// signs gives a sign of life, as each process does, and looks whether it is listed. No worker judges it.
func (t *startupCheck) signs(ctx context.Context) (able bool, unknown error) {
	signs := failover.NewSigns(t.kernel)
	if err := signs.Give(ctx, failover.Sign{Worker: t.queue, At: time.Now(), About: health.About{Role: failover.Checking}}); err != nil {
		return false, err
	}
	defer func() { _ = signs.End(context.WithoutCancel(ctx), t.queue) }() // it lapses by itself
	listed, err := signs.ListAll(ctx)
	if err != nil {
		return false, err
	}
	for _, sign := range listed {
		if sign.Worker == t.queue {
			return true, nil
		}
	}
	return false, nil
}

// polls ends a poll from outside, as a frozen worker's are ended.
func (t *startupCheck) polls(ctx context.Context) (able bool, unknown error) {
	ctx, cancel := context.WithTimeout(ctx, tuning.PollLife)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := t.kernel.Client.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
			Namespace: t.kernel.Namespace, TaskQueue: t.taskQueue(), WorkerInstanceKey: t.queue,
		})
		ended <- err
	}()
	_, err := t.kernel.Client.WorkflowService().ShutdownWorker(ctx, &workflowservice.ShutdownWorkerRequest{
		Namespace: t.kernel.Namespace, WorkerInstanceKey: t.queue, TaskQueue: t.queue, Reason: "a check",
		TaskQueueTypes: []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW},
	})
	if err != nil {
		cancel()
		return false, errors.Join(err, <-ended)
	}
	began := time.Now()
	err = <-ended
	if time.Since(began) < tuning.PollEnds {
		return true, err
	}
	return false, nil
}
