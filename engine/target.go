package engine

import (
	"time"

	"github.com/wakecall/wakecall/timer"
)

// Target is the timer that a change is made to.
type Target struct {
	Key timer.Key
	// IfMatch, when set, is the [timer.Memo.Tag] that the change is made on. On
	// anything else it is [timer.PreconditionFailed] with the timer's true state.
	IfMatch string
	// Wait is how long the caller waits for the effect, at most.
	Wait time.Duration
}
