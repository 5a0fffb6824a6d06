package bookings

import (
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Target is the timer of a change.
type Target struct {
	Key wire.Key
	// IfMatch, when set, is the required [timer.Memo.Tag]. Any other is
	// [wire.PreconditionFailed] with the timer's true state.
	IfMatch string
	// Status, when set, is the required status. Any other is [wire.Overtaken] with the
	// timer's true state.
	Status timer.Status
	// Wait is the most that the caller waits for the effect.
	Wait time.Duration
}

// unfit is the error if the timer does not meet the target's conditions, or nil. A timer
// that has ended is reported as ended.
func (t Target) unfit(view timer.View) error {
	switch {
	case !view.Memo.MatchesTag(t.IfMatch):
		return timer.Unmet(&view)
	case t.Status != "" && view.Status != t.Status && !view.Status.Finished():
		return &wire.Error{
			Code: wire.Overtaken, State: &view, Message: "The timer is " + string(view.Status) + ", and not " + string(t.Status) + " any more.",
		}
	}
	return nil
}
