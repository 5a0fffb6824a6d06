package delivery

import (
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

// attempt is one attempt that is about to be made.
type attempt struct {
	settings
	delivery timer.Delivery
	payload  converter.RawValue
	// last is the report before, nil if there is none.
	last *delivery.Report
}

// number is the attempt's, from 1. Only attempts that left a report count. An attempt whose
// worker died gave no verdict. A try without a call was no attempt.
func (a attempt) number() int {
	if a.last == nil {
		return 1
	}
	return a.last.Attempt + 1
}

// earlier is the first attempt for the timer's due time, if an earlier round made it.
func (a attempt) earlier() *timer.Rung { return a.delivery.Spec.Rung.For(a.delivery.Spec.DueAt) }

// first reports whether it is the first attempt for the timer's due time.
func (a attempt) first() bool { return a.number() == 1 && a.earlier() == nil }

// lateness is that of the first attempt for the timer's due time; nil if there was none.
func (a attempt) lateness() *int64 {
	switch {
	case a.last != nil && a.last.Attempt > 0:
		return a.last.LatenessMS
	case a.earlier() != nil:
		return a.earlier().LatenessMS
	default:
		return nil
	}
}

// withRoute is the attempt by the link of a route.
func (a attempt) withRoute(r route) attempt {
	a.settings = a.settings.withRoute(r)
	return a
}

// acknowledged reports whether the receiver must acknowledge the attempt after accepting it.
func (a attempt) acknowledged() bool {
	return a.policy.Ack != nil && !a.callback.Stream
}

// ownCallback reports whether the timer names its own destination.
func (a attempt) ownCallback() bool {
	own := a.delivery.Spec.Callback
	return own != nil && own.Addressed()
}
