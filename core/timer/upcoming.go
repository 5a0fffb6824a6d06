package timer

import (
	"time"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Upcoming are the next nominal times of a rule.
type Upcoming struct {
	Times []wire.Instant `json:"upcoming"`
	// EmptyBecause says why there is none; it is left out where there are some.
	EmptyBecause EmptyReason `json:"empty_because,omitzero"`
	// Note is why the timer was paused, where it is and somebody said so.
	Note string `json:"note,omitzero"`
}

// EmptyReason is why a rule names no further time.
type EmptyReason string

// The closed list of reasons.
const (
	// EmptyPaused: the timer is paused. Its rule goes on when it is resumed.
	EmptyPaused EmptyReason = "paused"
	// EmptyFinished: the timer has ended.
	EmptyFinished EmptyReason = "finished"
	// EmptyStopped: its receiver has ended the rule.
	EmptyStopped EmptyReason = "stopped"
	// EmptyNoMore: the rule names no further time, or none that the search finds.
	EmptyNoMore EmptyReason = "no_more"
)

// EmptyReasons lists every reason.
func EmptyReasons() []EmptyReason {
	return []EmptyReason{EmptyPaused, EmptyFinished, EmptyStopped, EmptyNoMore}
}

// UpcomingOf returns the times of a rule that is booked at a moment, count at most.
func UpcomingOf(rule recurrence.Rule, booked wire.Instant, count int) Upcoming {
	return upcoming(rule.Upcoming(recurrence.Cursor{Booked: booked}, count))
}

// Upcoming returns the next times of a recurring timer, count at most.
func (v View) Upcoming(count int, now time.Time) Upcoming {
	switch {
	case v.Status.Finished():
		return Upcoming{Times: []wire.Instant{}, EmptyBecause: EmptyFinished}
	case v.Memo.Series.Stopped:
		return Upcoming{Times: []wire.Instant{}, EmptyBecause: EmptyStopped}
	case v.Memo.Series.Paused:
		return Upcoming{Times: []wire.Instant{}, EmptyBecause: EmptyPaused, Note: v.Note}
	default:
		return upcoming(v.Memo.Upcoming(count, now))
	}
}

func upcoming(times []wire.Instant) Upcoming {
	if len(times) == 0 {
		return Upcoming{Times: []wire.Instant{}, EmptyBecause: EmptyNoMore}
	}
	return Upcoming{Times: times}
}
