package bookings

import (
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Target is the timer that a change is made to.
type Target struct {
	Key wire.Key
	// IfMatch, when set, is the [timer.Memo.Tag] that the change is made on. On
	// anything else it is [wire.PreconditionFailed] with the timer's true state.
	IfMatch string
	// Status, when set, is the one that the timer must be in. In another one it is
	// [wire.Overtaken] with the timer's true state.
	Status timer.Status
	// Wait is how long the caller waits for the effect, at most.
	Wait time.Duration
}

// unfit is why the timer is not the one that a change is made on, or nil. One that has ended
// is told of as such.
func (t Target) unfit(view timer.View) error {
	switch {
	case !view.Memo.Meets(t.IfMatch):
		return timer.Unmet(&view)
	case t.Status != "" && view.Status != t.Status && !view.Status.Finished():
		return &wire.Error{
			Code: wire.Overtaken, State: &view, Message: "The timer is " + string(view.Status) + ", and not " + string(t.Status) + " any more.",
		}
	}
	return nil
}
