package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/timer"
)

// maxUpdates keeps an entity's run well below the 2,000 updates that Temporal
// allows for one run.
const maxUpdates = 500

// PolicyRecord is a policy as it is stored: its secrets sealed.
type PolicyRecord struct {
	Policy    timer.Policy  `json:"policy"`
	ChangedAt timer.Instant `json:"changed_at"`
	ChangedBy string        `json:"changed_by"`
}

// PutPolicy replaces a policy.
type PutPolicy struct {
	Record PolicyRecord `json:"record"`
	// IfVersion, when set, must be the version that is replaced.
	IfVersion int `json:"if_version,omitzero"`
	// KeepSecrets keeps the signing secrets that are stored.
	KeepSecrets bool `json:"keep_secrets,omitzero"`
	// KeepHeaders names the callback headers whose stored values are kept.
	KeepHeaders []string `json:"keep_headers,omitempty"`
}

// Policy is the entity that holds the policy of one business type. Its memo is
// the policy, readable without a worker; its history is the record of who
// changed it and when.
func Policy(ctx workflow.Context, record PolicyRecord) error {
	e := &policyEntity{record: record}
	err := workflow.SetUpdateHandlerWithOptions(ctx, UpdatePutPolicy, e.put,
		workflow.UpdateHandlerOptions{Validator: e.validate})
	if err != nil {
		return err
	}
	enough := func() bool { return e.updates >= maxUpdates && workflow.AllHandlersFinished(ctx) }
	if err := workflow.Await(ctx, enough); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, TypePolicy, e.record)
}

type policyEntity struct {
	record  PolicyRecord
	updates int
}

func (e *policyEntity) validate(put PutPolicy) error {
	if put.IfVersion != 0 && put.IfVersion != e.record.Policy.Version {
		return temporal.NewNonRetryableApplicationError("the policy has another version", ErrorVersion, nil)
	}
	return nil
}

func (e *policyEntity) put(ctx workflow.Context, put PutPolicy) (PolicyRecord, error) {
	next := put.Record
	next.Policy.Version = e.record.Policy.Version + 1
	if put.KeepSecrets {
		next.Policy.SigningSecrets = e.record.Policy.SigningSecrets
	}
	for _, name := range put.KeepHeaders {
		if value, ok := e.record.Policy.Callback.Headers[name]; ok {
			next.Policy.Callback.Headers[name] = value
		}
	}
	e.record, e.updates = next, e.updates+1
	return next, workflow.UpsertMemo(ctx, map[string]any{MemoPolicy: next})
}
