package streams

import (
	"context"
	"regexp"
	"strconv"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/processid"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Streams brings answers to rings to the gateways that gave the rings.
type Streams struct{ kernel *kernel.Kernel }

// New returns the Streams of a namespace.
func New(k *kernel.Kernel) *Streams { return &Streams{kernel: k} }

// connectionForm is the form of connection names: the text of crypto/rand. Receivers could send
// back any text as the id of a ring. Only text in the form of real names reaches Temporal, where it
// becomes part of queue names and workflow ids.
var connectionForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// ErrRingOver is the error of an answer that no longer counts.
var ErrRingOver = &wire.Error{
	Code: wire.RingOver, Message: "The ring was answered before, its deadline has passed, or it was never sent.",
}

// Answer brings an answer to its gateway, and waits for its arrival. It needs a worker. The
// errors are [wire.RingOver], also if the gateway is gone, and [wire.Unavailable].
func (s *Streams) Answer(ctx context.Context, answer delivery.RingAnswer) error {
	if !processid.Valid(answer.Gateway) || !connectionForm.MatchString(answer.Connection) {
		return ErrRingOver
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	ring := answer.Connection + "." + strconv.FormatUint(answer.Number, 10)
	run, err := s.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.AnswerRingID(ring), TaskQueue: workflows.TaskQueue, WorkflowExecutionTimeout: tuning.ErrandLife,
		StaticSummary: "an answer of a receiver of " + answer.BusinessType,
	}, workflows.TypeAnswerRing, answer)
	if err != nil {
		return kernel.Translate(err)
	}
	err = run.Get(ctx, nil)
	if err != nil && !kernel.Expired(ctx, err) { // the ring is over, or gone with its gateway
		return ErrRingOver
	}
	return kernel.Translate(err)
}
