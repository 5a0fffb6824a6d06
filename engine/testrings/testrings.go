package testrings

import (
	"context"
	"errors"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// TestRings sends test events. It is safe for concurrent use.
type TestRings struct {
	kernel      *kernel.Kernel
	policies    *policies.Policies
	emergencies *emergencies.Emergencies
}

// New returns the TestRings of a namespace.
func New(k *kernel.Kernel, policies *policies.Policies, emergencies *emergencies.Emergencies) *TestRings {
	return &TestRings{kernel: k, policies: policies, emergencies: emergencies}
}

// Ring sends one test event to a link of a business type, and waits for the answer. A business type
// has one a second, whichever gateway sends it: its id names the second. The errors are
// [wire.NotFound] without a policy, [wire.InvalidRequest] for a link that is not called,
// [wire.HeldBack] while the callbacks of the type are held back, [wire.QuotaExceeded], and
// [wire.Unavailable] where the event was not sent or its answer is not known.
func (r *TestRings) Ring(ctx context.Context, businessType string, link delivery.Link) (result delivery.TestResult, err error) {
	stored, err := r.policies.Stored(ctx, businessType)
	if err != nil {
		return result, err
	}
	if err := called(stored, link); err != nil {
		return result, err
	}
	if err := r.held(ctx, stored); err != nil {
		return result, err
	}
	now := time.Now()
	id := workflows.TestRingID(businessType, strconv.FormatInt(now.Truncate(tuning.TestRingWindow).Unix(), 10))
	ring := delivery.TestRing{BusinessType: businessType, Link: link, WebhookID: timer.MessageID(id), At: wire.At(now)}
	starting, cancel := kernel.Bounded(ctx)
	defer cancel()
	run, err := r.kernel.Client.ExecuteWorkflow(starting, client.StartWorkflowOptions{
		ID: id, TaskQueue: workflows.TaskQueue, WorkflowExecutionTimeout: tuning.TestRingLife,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            delivery.EventTest + " of " + businessType,
	}, workflows.TypeTestRing, ring)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return result, tooSoon()
	}
	if err != nil {
		return result, kernel.Translate(err)
	}
	waiting, stop := context.WithTimeout(ctx, tuning.TestRingLife)
	defer stop()
	return result, unsent(run.Get(waiting, &result))
}

// held refuses an event that would wait with the callbacks of its type. An emergency that cannot be read
// refuses none: the event then waits in vain, as it does for a pause that comes after it.
func (r *TestRings) held(ctx context.Context, p policy.Policy) error {
	emergency, _ := r.emergencies.Holding(ctx, p.BusinessType)
	wait := policy.Holds{Emergency: emergency, Policy: p}.Wait(time.Now())
	if wait.WaitsFor == "" {
		return nil
	}
	why := map[delivery.Waiting]string{
		delivery.WaitsForEmergency:    "An emergency pause holds the callbacks of the type back",
		delivery.WaitsForPause:        "The policy of the type pauses its callbacks",
		delivery.WaitsForBackPressure: "The receiver has asked for patience with the type",
		delivery.WaitsForLimit:        "The policy of the type lets no callback through: its limits.callbacks_per_second is 0",
	}[wait.WaitsFor]
	if wait.WaitsFor == delivery.WaitsForEmergency || wait.WaitsFor == delivery.WaitsForPause {
		why += by(wait.WaitsBy)
	}
	if wait.WaitsUntil != 0 {
		why += " until " + wait.WaitsUntil.String()
	}
	return &wire.Error{Code: wire.HeldBack, Message: why + ". The test event was not sent."}
}

// by names who has paused; nothing where that is not known.
func by(author string) string {
	if author == "" {
		return ""
	}
	return ", by " + author
}

// called refuses a link that nothing is sent to.
func called(p policy.Policy, link delivery.Link) error {
	to := p.Callback.Destination
	if link == delivery.LinkFallback {
		if p.Fallback == nil {
			return wrongLink("the policy has no fallback")
		}
		to = p.Fallback.Destination
	}
	switch {
	case to.Stream:
		return wrongLink("its receivers connect by themselves, so none is called")
	case to == (delivery.Destination{}):
		return wrongLink("the policy names no receiver: each timer does")
	default:
		return nil
	}
}

func wrongLink(why string) error {
	return wire.FieldErrors{{Pointer: "link", Code: wire.CodeConflict, Detail: why}}.Err()
}

func tooSoon() error {
	return &wire.Error{
		Code: wire.QuotaExceeded, Message: "A business type has one test ring a second.",
		Quota: &wire.Quota{Name: "test_rings", Limit: 1, Window: tuning.TestRingWindow, RetryAfter: tuning.TestRingWindow},
	}
}

// unsent says what an event without a result means. One that no worker took was not sent.
func unsent(err error) error {
	var timeout *temporal.TimeoutError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
		return &wire.Error{Code: wire.Unavailable, Cause: err, Message: "The test event was not sent: " +
			"the limit of the type is used up, its callbacks were paused meanwhile, or no worker runs."}
	default:
		return &wire.Error{Code: wire.Unavailable, Cause: err, Message: "The test event may have been sent, and its answer is not known."}
	}
}
