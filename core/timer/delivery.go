package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Delivery is one occurrence of a timer, as the ringing activity gets it.
type Delivery struct {
	Spec Spec `json:"spec"`
	// Prior is the report of the previous attempt, nil if there was none.
	Prior *delivery.Report `json:"prior,omitempty"`
	// Asked reports whether the run's previous worker was asked for its receipt, in vain.
	Asked bool `json:"asked,omitzero"`
	// Unanswered is empty if that worker answered that it knows of none.
	Unanswered Unanswered `json:"unanswered,omitzero"`
}

// Unanswered counts the questions for a run's receipt that one worker left without an answer.
type Unanswered struct {
	Worker string `json:"worker"`
	Times  int    `json:"times"`
}

// Again returns the count after one more such question.
func (u Unanswered) Again(worker string) Unanswered {
	if u.Worker != worker {
		u = Unanswered{Worker: worker}
	}
	u.Times++
	return u
}

// Resume returns the delivery that continues after the last report.
func Resume(spec Spec, last delivery.Report) Delivery {
	d := Delivery{Spec: spec}
	if last.Attempt > 0 || last.Handed != nil {
		d.Prior = &last
	}
	return d
}

// RunState is Temporal's state of a timer's run during a delivery.
type RunState struct {
	// Wanted reports whether no cancel or change has revoked the next attempt.
	Wanted bool `json:"wanted"`
	// Last is the last recorded report, nil if there is none.
	Last *delivery.Report `json:"last,omitempty"`
	// Try is the number of the try of its attempts that is under way; 0 where none is known.
	// It is of the moment, and is not stored.
	Try int `json:"-"`
	// Latest is the time after which nothing is sent under the present policy, zero for never.
	// PolicyVersion is the version of that policy, 0 for no policy.
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
	// PolicyVersion is the version of the policy at the last attempt; 0 for none.
	PolicyVersion int `json:"policy_version,omitzero"`
	// Link is the link of the last attempt, if the policy had a fallback.
	Link delivery.Link `json:"link,omitzero"`
	// Stopped reports whether the receiver ended a recurring timer with this occurrence.
	Stopped bool `json:"stopped,omitzero"`
	// Again reports whether the timer had ended before, and was tried again. The outcome of an
	// occurrence does not have it.
	Again bool `json:"again,omitzero"`
	// Earlier is how many attempts earlier rounds made, without those that another outcome has.
	// Unsent reports whether one of them was the first attempt, with nothing sent. The outcome of
	// an occurrence has neither.
	Earlier int  `json:"earlier,omitzero"`
	Unsent  bool `json:"unsent,omitzero"`
}

// CancelledAfter is the outcome of a delivery that was given up after an attempt; the zero report is
// that of none.
func CancelledAfter(made delivery.Report) Outcome {
	return Outcome{
		Status: Cancelled, Attempts: made.Attempt, LatenessMS: made.LatenessMS, LastFailure: made.Failure,
		PolicyVersion: made.PolicyVersion, Link: made.Link,
	}
}
