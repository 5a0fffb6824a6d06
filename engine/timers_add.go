package engine

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Request is a booking or a change as it comes in from a client.
type Request struct {
	Key         timer.Key
	Terms       timer.Terms
	TraceParent string
	// IfMatch, of a change, is as in [Target].
	IfMatch string
	// IdempotencyKey tells a repeated booking from a new one, also when the timer
	// has ended; "" for none.
	IdempotencyKey string
}

// Add books a new timer. created is false when the same timer, booked with the
// same content, is there already. Its errors are [timer.InvalidRequest],
// [timer.UnknownBusinessType], [timer.AlreadyExists] and [timer.AlreadyFinished]
// with the timer that stands in the way, [timer.IdempotencyKeyReused],
// [timer.IDTaken], and [timer.Unavailable].
func (t *Timers) Add(ctx context.Context, r Request) (view timer.View, created bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	spec, err := t.admit(ctx, r)
	if err != nil {
		return timer.View{}, false, err
	}
	spec.Idempotency = timer.IdempotencyOf(r.IdempotencyKey, r.Terms)
	payload := workflows.Encode(r.Terms.Payload)
	if spec.Idempotency != nil {
		// A timer that has ended may be the one that this request booked before.
		view, created, err = t.book(ctx, spec, payload, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
		if timer.CodeOf(err) != timer.AlreadyFinished {
			return view, created, err
		}
	}
	for {
		view, created, err = t.book(ctx, spec, payload, reusePolicy(spec.Reuse))
		if !freed(spec.Reuse, err) {
			return view, created, err
		}
	}
}

// book starts a timer, or returns the one that the same request has booked.
func (t *Timers) book(
	ctx context.Context, spec timer.Spec, payload converter.RawValue, reuse enumspb.WorkflowIdReusePolicy,
) (view timer.View, created bool, err error) {
	options := startOptions(spec)
	options.WorkflowIDReusePolicy = reuse
	run, err := t.start(ctx, options, spec, payload)
	if is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		view, err = t.sameAs(ctx, spec)
		return view, false, taken(err)
	}
	if err != nil {
		return timer.View{}, false, translate(err)
	}
	if err := t.uphold(ctx, spec, run.GetRunID()); err != nil {
		return timer.View{}, false, err
	}
	return t.booked(ctx, spec, run.GetRunID()), true, nil
}

// admit checks a booking against the rules and against its type's policy, and
// seals its secrets.
func (t *Timers) admit(ctx context.Context, r Request) (timer.Spec, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	spec, err := timer.Admit(r.Key, r.Terms, uuid.NewString(), time.Now())
	if err := t.reach.Callback(r.Terms.Callback).Join(err); err != nil {
		return timer.Spec{}, err
	}
	policy, err := t.policyFor(ctx, spec)
	if err != nil {
		return timer.Spec{}, err
	}
	if err := refuseClosed(policy); err != nil {
		return timer.Spec{}, err
	}
	if err := checkInterval(r.Terms.Recurrence, policy); err != nil {
		return timer.Spec{}, err
	}
	spec.Target = targetOf(spec.Callback, policy)
	if r.Terms.Priority == nil {
		spec.Priority = policy.Priority
	}
	spec.Preload = t.bursts.preload(policy.Preloading(spec.Booking), spec.RingsAt())
	if err := t.admitQuota(ctx, policy); err != nil {
		return timer.Spec{}, err
	}
	if spec.Callback, err = t.policies.secrets.sealCallback(spec.Callback); err != nil {
		return timer.Spec{}, err
	}
	spec.TraceParent, spec.Behaviour, spec.Reuse = r.TraceParent, workflows.BehaviourNow, policy.Reuse
	return spec, nil
}

// checkInterval refuses a rule that rings more often than the policy allows.
func checkInterval(rule *timer.Recurrence, policy timer.Policy) error {
	if rule == nil || rule.MinInterval() >= policy.WithDefaults().MinInterval.D() {
		return nil
	}
	return timer.FieldErrors{{Pointer: "/recurrence", Code: timer.CodeOutOfRange,
		Detail: "must not ring more often than every " + policy.MinInterval.String() + ", the policy's min_interval"}}.Err()
}

// policyFor is the policy that a booking is held to. It refuses a timer that
// nobody would be called for.
func (t *Timers) policyFor(ctx context.Context, spec timer.Spec) (timer.Policy, error) {
	policy, err := t.policies.cached(ctx, spec.BusinessType)
	addressed := spec.Callback != nil && spec.Callback.URL != ""
	switch {
	case err == nil && policy.Callback.URL == "" && !addressed:
		return timer.Policy{}, timer.FieldErrors{{Pointer: "/callback/url", Code: timer.CodeRequired,
			Detail: "is required: the policy of the business type names none"}}.Err()
	case timer.CodeOf(err) != timer.NotFound:
		return policy, err
	case addressed:
		return timer.Policy{}.WithDefaults(), nil
	}
	return timer.Policy{}, unknownType(spec.BusinessType)
}

func unknownType(businessType string) error {
	return &timer.Error{
		Code: timer.UnknownBusinessType,
		Message: "The business type " + businessType +
			" has no policy. Put one at /v1/policies/" + businessType + ", or give the timer a callback.url.",
	}
}

// start begins the timer's workflow, cold until it is due.
func (t *Timers) start(
	ctx context.Context, options client.StartWorkflowOptions, spec timer.Spec, payload converter.RawValue,
) (client.WorkflowRun, error) {
	return limited(ctx, t.bookings, func() (client.WorkflowRun, error) {
		return t.client.ExecuteWorkflow(ctx, options, workflows.TypeTimer, spec, payload)
	})
}

func startOptions(spec timer.Spec) client.StartWorkflowOptions {
	attributes := []temporal.SearchAttributeUpdate{
		workflows.AttrBusinessType.ValueSet(spec.BusinessType),
		workflows.AttrBusinessID.ValueSet(spec.BusinessID),
		workflows.AttrDueAt.ValueSet(spec.DueAt.Time().UTC()),
	}
	if spec.Resting() {
		attributes = append(attributes, workflows.AttrState.ValueSet(string(timer.Paused)))
	}
	return client.StartWorkflowOptions{
		ID:                  spec.String(),
		TaskQueue:           workflows.TaskQueue,
		StartDelay:          workflows.StartDelay(spec.Memo, time.Now()),
		WorkflowTaskTimeout: spec.TaskTimeout(),
		// A running timer is never replaced by a start, and the SDK would
		// otherwise answer with the old run and no error.
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    reusePolicy(spec.Reuse),
		Memo:                                     map[string]any{workflows.MemoTimer: spec.Memo},
		TypedSearchAttributes:                    temporal.NewSearchAttributes(attributes...),
		// While there is more to do than can be done at once, business types take
		// turns, the more often the higher their priority.
		Priority:      temporal.Priority{FairnessKey: spec.BusinessType, FairnessWeight: timer.Weight(spec.Priority)},
		StaticSummary: summary(spec),
	}
}

// reusePolicy is Temporal's. Without a word a cancelled or failed timer may be
// booked again, a delivered or expired one may not.
func reusePolicy(reuse timer.Reuse) enumspb.WorkflowIdReusePolicy {
	if reuse == timer.ReuseAfterEnd {
		return enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	}
	return enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
}

// freed is whether a booking came upon a timer that has ended since, and whose id
// is free by now.
func freed(reuse timer.Reuse, err error) bool {
	refused, ok := errors.AsType[*timer.Error](err)
	return ok && reuse == timer.ReuseAfterEnd && refused.Code == timer.AlreadyFinished && refused.Timer.Status != timer.Cancelled
}

// sameAs answers a booking whose id is taken.
func (t *Timers) sameAs(ctx context.Context, spec timer.Spec) (timer.View, error) {
	view, err := t.get(ctx, spec.Key)
	if err != nil {
		return timer.View{}, err
	}
	repeated, reused := view.Memo.Repeats(spec.Idempotency)
	switch {
	case repeated:
		return view, nil
	case reused:
		return timer.View{}, &timer.Error{
			Code: timer.IdempotencyKeyReused, Timer: &view,
			Message: "A request with this idempotency key and other content booked the timer.",
		}
	case view.Status.Finished():
		return timer.View{}, finished(view)
	case view.Memo.Fingerprint != spec.Fingerprint:
		return timer.View{}, &timer.Error{
			Code: timer.AlreadyExists, Timer: &view,
			Message: "A timer with this id exists with other content.",
		}
	}
	return view, nil
}

func finished(view timer.View) error {
	return &timer.Error{
		Code: timer.AlreadyFinished, Timer: &view,
		Message: "The timer is already " + string(view.Status) + ".",
	}
}
