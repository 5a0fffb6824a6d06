package namespace

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/internal/tuning"
)

// signs gives a sign of life, as each worker does, and looks whether it is listed.
func (t *startupCheck) signs(ctx context.Context) (wrong string, unknown error) {
	signs := failover.NewSigns(t.kernel)
	if err := signs.Give(ctx, failover.Sign{Worker: t.queue, At: time.Now(), About: health.About{Role: failover.Checking}}); err != nil {
		return "", err
	}
	defer func() { _ = signs.End(context.WithoutCancel(ctx), t.queue) }() // it lapses by itself
	listed, err := signs.List(ctx)
	if err != nil {
		return "", err
	}
	for _, sign := range listed {
		if sign.Worker == t.queue {
			return "", nil
		}
	}
	return "workers do not hear of one another: what a dead worker holds waits for its timeout, up to two minutes; " +
		"set frontend.WorkerHeartbeatsEnabled to true", nil
}

// polls ends a poll from outside, as a frozen worker's are ended.
func (t *startupCheck) polls(ctx context.Context) (wrong string, unknown error) {
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
		return "", errors.Join(err, <-ended)
	}
	began := time.Now()
	err = <-ended
	if time.Since(began) < tuning.PollEnds {
		return "", err
	}
	return "a frozen worker goes on to take tasks, which wait until it thaws or they time out; " +
		"set frontend.enableCancelWorkerPollsOnShutdown to true", nil
}
