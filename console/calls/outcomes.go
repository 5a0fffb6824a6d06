package calls

import "time"

// Outcomes is how timers ended and how late they rang.
type Outcomes struct {
	CountedAt    time.Time     `json:"counted_at"`
	LatenessFrom string        `json:"lateness_from"`
	Steps        []OutcomeStep `json:"steps"`
}

// OutcomeStep is one step of the time past. A lateness is nil where it is not known.
type OutcomeStep struct {
	At        time.Time `json:"at"`
	Counted   bool      `json:"counted"`
	Delivered int       `json:"delivered"`
	Failed    int       `json:"failed"`
	Expired   int       `json:"expired"`
	Attempts  int64     `json:"attempts"`
	Retried   int64     `json:"retried"`
	P50       *float64  `json:"p50_ms"`
	P99       *float64  `json:"p99_ms"`
	Worst     *float64  `json:"worst_ms"`
}

// Ended is how many timers ended in it.
func (s OutcomeStep) Ended() int { return s.Delivered + s.Failed + s.Expired }

// Objective is how punctual the timers of a business type were.
type Objective struct {
	BusinessType string   `json:"business_type"`
	Share        *float64 `json:"share"`
	Failed       int      `json:"failed"`
	Rung         int      `json:"rung"`
}
