package workflows

import (
	"maps"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// continueAsNew ends the run and begins the next one, cold until it is time to ring.
func (t *timerRun) continueAsNew(ctx workflow.Context) error {
	t.spec.Behaviour = max(t.spec.Behaviour, BehaviourNow)
	if err := carryMemo(ctx, t.spec.Memo); err != nil {
		return err
	}
	ctx = workflow.WithWorkflowTaskTimeout(ctx, t.spec.TaskTimeout())
	options := workflow.ContinueAsNewErrorOptions{BackoffStartInterval: StartDelay(t.spec.Memo, workflow.Now(ctx))}
	return workflow.NewContinueAsNewErrorWithOptions(ctx, options, TypeTimer, t.spec, t.payload)
}

// attrVersion is where the SDK notes what [workflow.GetVersion] decided in a run.
const attrVersion = "TemporalChangeVersion"

// carryMemo sets the memo and the search attributes of the run that follows. The
// SDK copies them into its continue-as-new command from the workflow's info:
// what is set there costs the run that ends no event, and its memo goes on to
// tell what it was.
func carryMemo(ctx workflow.Context, card timer.Memo) error {
	encoded, err := converter.GetDefaultDataConverter().ToPayload(card)
	if err != nil {
		return err
	}
	info := workflow.GetInfo(ctx)
	memo := maps.Clone(info.Memo.GetFields())
	memo[MemoTimer] = encoded
	info.Memo = &commonpb.Memo{Fields: memo}
	attributes := map[string]*commonpb.Payload{}
	//workflowcheck:ignore The order in which they are copied tells nothing.
	maps.Copy(attributes, info.SearchAttributes.GetIndexedFields()) //nolint:staticcheck // the typed ones cannot be set here
	attributes[AttrDueAt.GetName()], err = attribute(card.DueAt.Time().UTC(), AttrDueAt.GetValueType())
	if err != nil {
		return err
	}
	delete(attributes, AttrState.GetName())
	delete(attributes, attrVersion) // the run's that ends
	if card.Resting() {
		if attributes[AttrState.GetName()], err = attribute(string(timer.Paused), AttrState.GetValueType()); err != nil {
			return err
		}
	}
	info.SearchAttributes = &commonpb.SearchAttributes{IndexedFields: attributes} //nolint:staticcheck // as above
	return nil
}

// attribute encodes a search attribute as the SDK does.
func attribute(value any, kind enumspb.IndexedValueType) (*commonpb.Payload, error) {
	encoded, err := converter.GetDefaultDataConverter().ToPayload(value)
	if err == nil {
		encoded.Metadata["type"] = []byte(kind.String())
	}
	return encoded, err
}
