package recurrence

import (
	"time"

	"github.com/wakecall/wakecall/core/calendar"
)

// The limits of recurrences, each with its reason.
const (
	// MinInterval is the shortest time between two occurrences that a rule may
	// ask for: the finest that a cron expression can say.
	MinInterval = time.Second
	// MaxCrons bounds the expressions of one recurrence, and MaxExcludes its
	// exclusions: ten years of public holidays. The whole rule travels in
	// every run of the timer, and is read anew for every occurrence.
	MaxCrons    = 10
	MaxExcludes = 100
	// MaxOccurrences bounds how often a rule may say that it rings: once a second it takes
	// thirty years to get there.
	MaxOccurrences = 1_000_000_000
	// MaxMoments bounds the times that a recurrence lists.
	MaxMoments = 100
	// MaxCronLen is the longest expression, in bytes.
	MaxCronLen = calendar.MaxExpression
	// MaxMadeUp is how many missed occurrences fire_all makes up for, so that
	// a receiver that was away is not buried.
	MaxMadeUp = 100
	// MissedGrace is how late an occurrence may ring under the rule skip. It
	// covers a worker's restart.
	MissedGrace = time.Minute
	// MaxUpcoming is how many nominal times may be asked for at once.
	MaxUpcoming     = 1000
	DefaultUpcoming = 20
	// MaxUpcomingSteps bounds the days and moments that one search for them looks at, all
	// expressions of a rule together: a thousand Fridays the 13th take 220,000, and all of
	// them less than a tenth of a second.
	MaxUpcomingSteps = 500_000
)
