package recurrence

import (
	"time"

	"github.com/wakecall/wakecall/core/calendar"
)

// The limits of recurrences, each with its reason.
const (
	// MinInterval is the shortest time between two occurrences of a rule, and the finest step of
	// a cron expression.
	MinInterval = time.Second
	// MaxCrons bounds the expressions of one recurrence, and MaxExcludes its exclusions: ten
	// years of public holidays. The whole rule travels in every run of the timer and is parsed
	// for every occurrence.
	MaxCrons    = 10
	MaxExcludes = 100
	// MaxOccurrences bounds the number of rings in a rule: once a second it takes thirty years
	// to get there.
	MaxOccurrences = 1_000_000_000
	// MaxMoments bounds the times that a recurrence lists.
	MaxMoments = 100
	// MaxCronLen is the longest expression, in bytes.
	MaxCronLen = calendar.MaxExpression
	// MaxMadeUp is how many missed occurrences fire_all makes up for. It protects a receiver
	// after a long absence.
	MaxMadeUp = 100
	// MissedGrace is how late an occurrence may ring under the rule skip. It
	// covers a worker's restart.
	MissedGrace = time.Minute
	// MaxUpcoming bounds the nominal times of one request.
	MaxUpcoming     = 1000
	DefaultUpcoming = 20
	// MaxUpcomingSteps bounds the days and moments examined in one such search, for all
	// expressions of a rule together. A thousand Fridays the 13th take 220,000 steps. All steps
	// take less than a tenth of a second.
	MaxUpcomingSteps = 500_000
)
