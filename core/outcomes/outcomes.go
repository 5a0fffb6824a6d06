package outcomes

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// The limits of a request. Minutes older than Kept are not counted. A request for just that time takes a moment to
// arrive, so one is refused beyond Longest.
const (
	MinStep     = time.Minute
	Kept        = 25 * time.Hour
	Longest     = Kept + MinStep
	DefaultPast = time.Hour
)

// Span is the time from From to To, in steps of whole minutes.
type Span struct {
	From, To wire.Instant
	Step     time.Duration
}

// Source says where latenesses come from.
type Source string

// The sources. A process knows the attempts that it made itself; Prometheus knows those of all. Where
// Prometheus does not answer, what the process knows itself stands in, if it makes attempts.
const (
	Node       Source = "node"
	Prometheus Source = "prometheus"
	Unanswered Source = "unanswered"
	Unknown    Source = "unknown"
)

// Counts is how many timers ended in a stretch of time.
type Counts struct {
	Delivered int `json:"delivered"`
	Failed    int `json:"failed"`
	Expired   int `json:"expired"`
}

// Add adds the counts of another stretch.
func (c *Counts) Add(other Counts) {
	c.Delivered += other.Delivered
	c.Failed += other.Failed
	c.Expired += other.Expired
}

// Minute is what ended in a minute. One that was not counted yet is left out.
type Minute struct {
	At wire.Instant
	Counts
}

// Lateness is what is known of the attempts in a stretch of time.
type Lateness struct {
	At wire.Instant `json:"-"`
	// Attempts is how many calls were made, and Retried how many of them failed and are repeated.
	Attempts int64 `json:"attempts"`
	Retried  int64 `json:"retried"`
	// P50MS, P99MS and WorstMS are the lateness of first attempts, in milliseconds. They are nil
	// if there was none.
	P50MS   *float64 `json:"p50_ms,omitempty"`
	P99MS   *float64 `json:"p99_ms,omitempty"`
	WorstMS *float64 `json:"worst_ms,omitempty"`
}

// Step is one step of the time past, from At on.
type Step struct {
	At wire.Instant `json:"at"`
	// Counted reports whether each of its minutes was counted, of each business type. The counts are too low otherwise.
	Counted bool `json:"counted"`
	Counts
	// Lateness is nil where it is not known.
	*Lateness
}

// Outcomes is how the timers of a business type, or of several, ended. A recurring timer counts
// when it ends, and not for each of its rings.
type Outcomes struct {
	BusinessType string `json:"business_type,omitzero"`
	// CountedAt is when the ends were counted, of several types the longest ago; zero for never.
	CountedAt    wire.Instant  `json:"counted_at,omitzero"`
	LatenessFrom Source        `json:"lateness_from"`
	Step         wire.Duration `json:"step"`
	Steps        []Step        `json:"steps"`
}

// Divide sums minutes of so many business types up to the steps of a span. A minute that was counted is there once for
// each type.
func (o *Outcomes) Divide(minutes []Minute, span Span, types int) {
	o.Step, o.Steps = wire.Duration(span.Step), []Step{}
	for at := span.From; at < span.To; at = at.Add(span.Step) {
		o.Steps = append(o.Steps, Step{At: at})
	}
	seen := map[wire.Instant]int{}
	for _, minute := range minutes {
		n := int(minute.At.Time().Sub(span.From.Time()) / span.Step)
		if minute.At < span.From || n >= len(o.Steps) {
			continue
		}
		o.Steps[n].Add(minute.Counts)
		seen[minute.At]++
	}
	for n := range o.Steps {
		o.Steps[n].Counted = true
		end := o.Steps[n].At.Add(span.Step)
		for at := o.Steps[n].At; at < end && o.Steps[n].Counted; at = at.Add(MinStep) {
			o.Steps[n].Counted = seen[at] > 0 && seen[at] >= types
		}
	}
}

// Attach adds latenesses to their steps. What a process does not know of a step it leaves out. Prometheus leaves out
// what had no attempt.
func (o *Outcomes) Attach(from Source, known []Lateness) {
	o.LatenessFrom = from
	if from == Unknown || from == Unanswered && known == nil {
		return
	}
	by := map[wire.Instant]*Lateness{}
	for i := range known {
		by[known[i].At] = &known[i]
	}
	for i := range o.Steps {
		if o.Steps[i].Lateness = by[o.Steps[i].At]; o.Steps[i].Lateness == nil && from == Prometheus {
			o.Steps[i].Lateness = &Lateness{At: o.Steps[i].At}
		}
	}
}
