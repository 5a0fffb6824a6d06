package workflows

import (
	"errors"
	"maps"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

// continueAsNew ends the run and begins the next one, cold until it is time to ring.
func (t *timerRun) continueAsNew() error {
	t.spec.Behaviour = max(t.spec.Behaviour, BehaviourNow)
	if err := setNextInfo(t.ctx, t.spec); err != nil {
		return err
	}
	ctx := workflow.WithWorkflowTaskTimeout(t.ctx, TaskTimeout(t.spec.Memo))
	options := workflow.ContinueAsNewErrorOptions{BackoffStartInterval: StartDelay(t.spec.Memo, workflow.Now(ctx))}
	return workflow.NewContinueAsNewErrorWithOptions(ctx, options, workflow.GetInfo(ctx).WorkflowType.Name, t.spec, t.payload)
}

// setNextInfo sets the memo and the search attributes of the next run. The SDK copies both
// into its continue-as-new command from the workflow's info. Setting them there adds no
// event to the ending run and leaves that run's memo unchanged.
func setNextInfo(ctx workflow.Context, next timer.Spec) error {
	info := workflow.GetInfo(ctx)
	memo, badMemo := nextMemo(info.Memo.GetFields(), next)
	present := info.SearchAttributes.GetIndexedFields() //nolint:staticcheck // the typed ones cannot be set here
	attributes, badAttribute := nextAttributes(present, next)
	info.Memo = &commonpb.Memo{Fields: memo}
	info.SearchAttributes = &commonpb.SearchAttributes{IndexedFields: attributes} //nolint:staticcheck // as above
	return errors.Join(badMemo, badAttribute)
}

// nextMemo is the memo of the next run, given that of the present one.
func nextMemo(present map[string]*commonpb.Payload, next timer.Spec) (map[string]*commonpb.Payload, error) {
	fields := maps.Clone(present)
	encoded, badMemo := converter.GetDefaultDataConverter().ToPayload(next.Memo)
	fields[MemoTimer] = encoded
	return fields, errors.Join(badMemo, passAcceptance(fields, next.Ongoing))
}

// nextAttributes are the search attributes of the next run, given those of the present one.
func nextAttributes(present map[string]*commonpb.Payload, next timer.Spec) (map[string]*commonpb.Payload, error) {
	attributes := map[string]*commonpb.Payload{}
	//workflowcheck:ignore The order of copying has no effect.
	maps.Copy(attributes, present)
	for _, ending := range []string{AttrState.GetName(), AttrWebhookID.GetName(), AttrLabels.GetName(), attrVersion} {
		delete(attributes, ending) // it belongs to the ending run
	}
	var errs []error
	set := func(key temporal.SearchAttributeKey, value any) {
		encoded, err := encodeAttribute(value, key.GetValueType())
		attributes[key.GetName()] = encoded
		errs = append(errs, err)
	}
	set(AttrDueAt, next.DueAt.Time().UTC())
	if state := stateOf(next); state != timer.Scheduled {
		set(AttrState, string(state))
	}
	keywords := next.Keywords() //workflowcheck:ignore They are sorted.
	if len(keywords) > 0 {
		set(AttrLabels, keywords)
	}
	return attributes, errors.Join(errs...)
}

// stateOf is the state in which the next run begins. A scheduled timer shows none.
func stateOf(next timer.Spec) timer.Status {
	switch {
	case next.Resting():
		return timer.Paused
	case next.Ongoing != nil:
		return timer.Delivering
	default:
		return timer.Scheduled
	}
}

// passAcceptance gives the memo of the next run the accepted attempt of the delivery that goes on
// there: its receiver may ask again before a worker has that run. Without one it knows none.
func passAcceptance(fields map[string]*commonpb.Payload, ongoing *delivery.Report) (err error) {
	delete(fields, MemoAcceptance)
	if ongoing != nil && ongoing.AckUntil != 0 {
		fields[MemoAcceptance], err = converter.GetDefaultDataConverter().ToPayload(ongoing.Acceptance())
	}
	return err
}

// encodeAttribute encodes a search attribute as the SDK does.
func encodeAttribute(value any, kind enumspb.IndexedValueType) (*commonpb.Payload, error) {
	encoded, err := converter.GetDefaultDataConverter().ToPayload(value)
	if err == nil {
		encoded.Metadata["type"] = []byte(kind.String())
	}
	return encoded, err
}
