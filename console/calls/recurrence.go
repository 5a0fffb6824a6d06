package calls

import "time"

// Rule is what the pages say of when a recurring timer rings.
type Rule struct {
	Cron           string      `json:"cron"`
	Crons          []string    `json:"crons"`
	Every          string      `json:"every"`
	After          string      `json:"after"`
	At             []time.Time `json:"at"`
	Before         []string    `json:"before"`
	Timezone       string      `json:"timezone"`
	EndAt          time.Time   `json:"end_at"`
	MaxOccurrences int         `json:"max_occurrences"`
}

// Upcoming is when a rule rings next, or why it does not.
type Upcoming struct {
	Times        []time.Time `json:"upcoming"`
	EmptyBecause string      `json:"empty_because"`
}

// Occurrence is one that has ended.
type Occurrence struct {
	Number      int       `json:"occurrence"`
	DueAt       time.Time `json:"due_at"`
	Skipped     int       `json:"skipped"`
	Status      string    `json:"status"`
	Attempts    int       `json:"attempts"`
	LastFailure *Failure  `json:"last_failure"`
	LatenessMS  *int64    `json:"lateness_ms"`
}

// Failed reports whether there is one, and it has failed.
func (o *Occurrence) Failed() bool { return o != nil && o.Status == StatusFailed }

// FailedAt is when one that has failed ended, as far as that is known.
func (o *Occurrence) FailedAt() time.Time {
	if o.LastFailure == nil {
		return o.DueAt
	}
	return o.LastFailure.At
}
