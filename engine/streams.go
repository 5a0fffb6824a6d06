package engine

import (
	"context"
	"regexp"
	"strconv"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Streams bring answers to rings to the gateways that gave them.
type Streams struct{ *kernel }

// gatewayForm is how processes are called: nobody shall make up names of queues.
var gatewayForm = regexp.MustCompile(`^wakecall-[0-9a-f-]{36}$`)

// ErrRingOver is the error of an answer that does not count any more.
var ErrRingOver = &timer.Error{
	Code: timer.RingOver, Message: "The ring was answered before, its deadline has passed, or it was never given.",
}

// Answer brings an answer to its gateway, and waits until it is there. It needs a worker.
// Its errors are [timer.RingOver], also where the gateway is gone, and [timer.Unavailable].
func (s *Streams) Answer(ctx context.Context, answer timer.RingAnswer) error {
	if !gatewayForm.MatchString(answer.Gateway) {
		return ErrRingOver
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	ring := answer.Connection + "." + strconv.FormatUint(answer.Number, 10)
	run, err := s.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.AnswerRingID(ring), TaskQueue: workflows.TaskQueue, WorkflowExecutionTimeout: tuning.CallTimeout,
		StaticSummary: "an answer of a receiver of " + answer.BusinessType,
	}, workflows.TypeAnswerRing, answer)
	if err != nil {
		return translate(err)
	}
	err = run.Get(ctx, nil)
	if err != nil && !expired(ctx, err) { // the ring is over, or gone with its gateway
		return ErrRingOver
	}
	return translate(err)
}
