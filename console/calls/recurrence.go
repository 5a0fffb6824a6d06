package calls

import "time"

// Rule is what the pages say of when a recurring timer rings.
type Rule struct {
	Cron    string   `json:"cron"`
	Crons   []string `json:"crons"`
	Seconds bool     `json:"seconds"`
	Dialect string   `json:"dialect"`
	Every   string   `json:"every"`
	// Offset is nil where the rate counts from the booking, or from the start.
	Offset *string     `json:"offset"`
	After  string      `json:"after"`
	At     []time.Time `json:"at"`
	// Before are times before DueAt, or before DueLocal on the clocks of Timezone.
	Before         []string  `json:"before"`
	DueAt          time.Time `json:"due_at"`
	DueLocal       string    `json:"due_local"`
	Timezone       string    `json:"timezone"`
	InitialDelay   string    `json:"initial_delay"`
	StartAt        time.Time `json:"start_at"`
	EndAt          time.Time `json:"end_at"`
	MaxOccurrences int       `json:"max_occurrences"`
	Jitter         string    `json:"jitter"`
	// Exclude are dates, and cron expressions of five fields that exclude whole minutes.
	Exclude   []string `json:"exclude"`
	Missed    string   `json:"missed"`
	OnFailure string   `json:"on_failure"`
}

// Expressions are its cron expressions.
func (r Rule) Expressions() []string {
	if r.Cron != "" {
		return []string{r.Cron}
	}
	return r.Crons
}

// Zone is where its clocks stand; nil for a rule without clocks.
func (r Rule) Zone() *time.Location {
	if r.Timezone == "" && r.DueLocal == "" && len(r.Expressions())+len(r.Exclude) == 0 {
		return nil
	}
	zone, err := time.LoadLocation(r.Timezone)
	if err != nil {
		return nil
	}
	return zone
}

// Upcoming is when a rule rings next, or why it does not.
type Upcoming struct {
	Times        []time.Time `json:"upcoming"`
	EmptyBecause string      `json:"empty_because"`
}

// Occurrence is an occurrence that has ended.
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
