package workflows

import (
	"errors"
	"maps"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

// continueAsNew ends the run and begins the next one, cold until it is time to ring.
func (t *timerRun) continueAsNew() error {
	t.spec.Behaviour = max(t.spec.Behaviour, BehaviourNow)
	err := setNextMemo(t.ctx, t.spec)
	if err == nil {
		ctx := workflow.WithWorkflowTaskTimeout(t.ctx, TaskTimeout(t.spec.Memo))
		options := workflow.ContinueAsNewErrorOptions{BackoffStartInterval: StartDelay(t.spec.Memo, workflow.Now(ctx))}
		err = workflow.NewContinueAsNewErrorWithOptions(ctx, options, workflow.GetInfo(ctx).WorkflowType.Name, t.spec, t.payload)
	}
	return err
}

// setNextMemo sets the memo and the search attributes of the next run. The SDK copies both
// into its continue-as-new command from the workflow's info. Setting them there adds no
// event to the ending run and leaves that run's memo unchanged.
func setNextMemo(ctx workflow.Context, next timer.Spec) error {
	memo := next.Memo
	encoded, badMemo := converter.GetDefaultDataConverter().ToPayload(memo)
	dueAt, badDue := encodeAttribute(memo.DueAt.Time().UTC(), AttrDueAt.GetValueType())
	state, badState := encodeAttribute(string(stateOf(next)), AttrState.GetValueType())
	keywords := memo.Keywords() //workflowcheck:ignore They are sorted.
	encodedKeywords, badKeywords := encodeAttribute(keywords, AttrLabels.GetValueType())
	info := workflow.GetInfo(ctx)
	fields := maps.Clone(info.Memo.GetFields())
	fields[MemoTimer] = encoded
	badAcceptance := passAcceptance(fields, next.Ongoing)
	info.Memo = &commonpb.Memo{Fields: fields}
	attributes := map[string]*commonpb.Payload{}
	//workflowcheck:ignore The order of copying has no effect.
	maps.Copy(attributes, info.SearchAttributes.GetIndexedFields()) //nolint:staticcheck // the typed ones cannot be set here
	attributes[AttrDueAt.GetName()] = dueAt
	delete(attributes, AttrState.GetName())
	delete(attributes, AttrWebhookID.GetName())
	delete(attributes, attrVersion) // it belongs to the ending run
	delete(attributes, AttrLabels.GetName())
	if len(keywords) > 0 {
		attributes[AttrLabels.GetName()] = encodedKeywords
	}
	if stateOf(next) != timer.Scheduled {
		attributes[AttrState.GetName()] = state
	}
	info.SearchAttributes = &commonpb.SearchAttributes{IndexedFields: attributes} //nolint:staticcheck // as above
	return errors.Join(badMemo, badAcceptance, badDue, badState, badKeywords)
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
