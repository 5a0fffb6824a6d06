package timer

import (
	"time"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Upcoming has the next nominal times of a rule.
type Upcoming struct {
	Times []wire.Instant `json:"upcoming"`
	// EmptyBecause is why there is none; it is left out if there are some.
	EmptyBecause EmptyReason `json:"empty_because,omitzero"`
	// Note is why the timer was paused, if it is and a reason was given.
	Note string `json:"note,omitzero"`
}

// EmptyReason is why a rule has no further time.
type EmptyReason string

// The closed list of reasons.
const (
	// EmptyPaused: the timer is paused. Its rule goes on after a resumption.
	EmptyPaused EmptyReason = "paused"
	// EmptyFinished: the timer has ended.
	EmptyFinished EmptyReason = "finished"
	// EmptyStopped: its receiver has ended the rule.
	EmptyStopped EmptyReason = "stopped"
	// EmptyNoMore: the rule has no further time, or none within the search.
	EmptyNoMore EmptyReason = "no_more"
)

// EmptyReasons lists every reason.
func EmptyReasons() []EmptyReason {
	return []EmptyReason{EmptyPaused, EmptyFinished, EmptyStopped, EmptyNoMore}
}

// UpcomingOf returns the times of a rule booked at a moment, at most count.
func UpcomingOf(rule recurrence.Rule, booked wire.Instant, count int) Upcoming {
	return upcoming(rule.Upcoming(recurrence.Cursor{Booked: booked}, count))
}

// Upcoming returns the next times of a recurring timer, at most count.
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
