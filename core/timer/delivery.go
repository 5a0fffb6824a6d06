package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Delivery is one occurrence of a timer, handed to the activity that rings.
type Delivery struct {
	Spec Spec `json:"spec"`
	// Prior is the last attempt that was made before. Nil when there was none.
	Prior *delivery.Report `json:"prior,omitempty"`
	// Asked reports whether the worker that had the run's task before was asked for its
	// receipt, and did not answer.
	Asked bool `json:"asked,omitzero"`
}

// Resume is the delivery that goes on from the last report.
func Resume(spec Spec, last delivery.Report) Delivery {
	d := Delivery{Spec: spec}
	if last.Attempt > 0 || last.Handed != nil {
		d.Prior = &last
	}
	return d
}

// RunState is what Temporal knows of the run of a timer that is being delivered.
type RunState struct {
	// Wanted reports whether no cancel or change has called the next attempt off.
	Wanted bool `json:"wanted"`
	// Last is the last report that was recorded, nil if there is none.
	Last *delivery.Report `json:"last,omitempty"`
	// Latest is the time after which nothing is sent under the policy as it is
	// now, zero for never; PolicyVersion is its version, 0 for no policy.
	Latest        wire.Instant `json:"latest,omitzero"`
	PolicyVersion int          `json:"policy_version,omitzero"`
}

// Outcome is how a timer ended: the result of its workflow.
type Outcome struct {
	Status      Status            `json:"status"`
	Attempts    int               `json:"attempts"`
	DeliveredAt wire.Instant      `json:"delivered_at,omitzero"`
	LatenessMS  *int64            `json:"lateness_ms,omitempty"`
	LastFailure *delivery.Failure `json:"last_failure,omitempty"`
	// PolicyVersion is the one the last attempt was made under; 0 for none.
	PolicyVersion int `json:"policy_version,omitzero"`
	// Link is by which the last attempt went, where the policy had a fallback.
	Link delivery.Link `json:"link,omitzero"`
	// Stopped reports whether the receiver ended a recurring timer with this occurrence.
	Stopped bool `json:"stopped,omitzero"`
}
