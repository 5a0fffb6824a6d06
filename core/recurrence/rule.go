package recurrence

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/wire"
)

// Rule defines when a timer rings repeatedly, by exactly one of Cron, Crons, Every, After, At
// and Before.
//
// The moments of the rule are nominal times. A receiver gets the nominal time, and the next one
// counts from it. Jitter and lateness never move it.
type Rule struct {
	// Cron is an expression of five fields, or of six with seconds in front.
	Cron *string `json:"cron,omitempty"`
	// Crons are several expressions; a moment that several match rings once.
	Crons []string `json:"crons,omitzero"`
	// Seconds reports whether the expressions begin with a field for seconds. It may be left out
	// if six fields mean nothing else.
	Seconds bool `json:"seconds,omitzero"`
	// Dialect is the scheduler that the expressions are written for; empty for cron.
	Dialect calendar.Dialect `json:"dialect,omitzero"`
	// Every is a fixed rate: nominal times lie a whole number of intervals after the first one.
	// With an Offset, even of zero, they lie that offset and a whole number of intervals after
	// 1970-01-01T00:00Z.
	Every  *wire.Duration `json:"every,omitempty"`
	Offset *wire.Duration `json:"offset,omitempty"`
	// After is a fixed delay, counted from the end of the last delivery.
	After *wire.Duration `json:"after,omitempty"`
	// At lists the times. Before lists how long they lie before DueAt or DueLocal; Timezone
	// applies to DueLocal. Times that have passed at the booking do not ring.
	At       []wire.Instant  `json:"at,omitzero"`
	Before   []wire.Duration `json:"before,omitzero"`
	DueAt    wire.Instant    `json:"due_at,omitzero"`
	DueLocal *wire.Wall      `json:"due_local,omitempty"`

	// Timezone is an IANA name; empty means UTC. Cron expressions and
	// exclusions are read in it.
	Timezone string `json:"timezone,omitzero"`
	// InitialDelay, counted from the booking, and StartAt exclude one another. Nothing rings
	// before them.
	InitialDelay *wire.Duration `json:"initial_delay,omitempty"`
	StartAt      wire.Instant   `json:"start_at,omitzero"`
	// EndAt is the last possible nominal time.
	EndAt wire.Instant `json:"end_at,omitzero"`
	// MaxOccurrences bounds the number of rings; skipped times do not count.
	MaxOccurrences *int `json:"max_occurrences,omitempty"`
	// Jitter delays each ring by up to this much, exclusive.
	Jitter wire.Duration `json:"jitter,omitzero"`
	// Exclude lists dates such as 2027-12-25 and cron expressions of five fields. Each
	// expression excludes whole minutes.
	Exclude   []string  `json:"exclude,omitempty"`
	Missed    Missed    `json:"missed,omitzero"`
	OnFailure OnFailure `json:"on_failure,omitzero"`
	// Paused reports whether the timer waits to be resumed before its first ring.
	Paused bool `json:"paused,omitzero"`
}

// Missed is the treatment of nominal times that passed while nothing could ring: no worker ran,
// or a delivery lasted past the next time.
type Missed string

// The ways to make up for missed nominal times; empty means MissedFireOnce.
const (
	// MissedFireOnce rings once, for the latest of them.
	MissedFireOnce Missed = "fire_once"
	// MissedSkip rings for the latest of them only if it is not later than
	// MissedGrace.
	MissedSkip Missed = "skip"
	// MissedFireAll rings for each in turn, at most MaxMadeUp times.
	MissedFireAll Missed = "fire_all"
)

// OnFailure is the treatment of a recurring timer after a failed delivery.
type OnFailure string

// Empty means OnFailureContinue.
const (
	OnFailureContinue OnFailure = "continue"
	OnFailurePause    OnFailure = "pause"
)

// expressions returns the cron expressions, each with its pointer.
func (r Rule) expressions() (texts, pointers []string) {
	if r.Cron != nil {
		return []string{*r.Cron}, []string{"/cron"}
	}
	for i := range r.Crons {
		pointers = append(pointers, "/crons/"+strconv.Itoa(i))
	}
	return r.Crons, pointers
}

// form returns the form of the expressions.
func (r Rule) form() calendar.Form {
	return calendar.Form{Seconds: r.Seconds, Dialect: r.Dialect}
}

// start returns the earliest nominal time of a timer booked at the given moment.
func (r Rule) start(booked wire.Instant) wire.Instant {
	switch {
	case r.StartAt != 0:
		return r.StartAt
	case r.InitialDelay != nil:
		return booked.Add(r.InitialDelay.D())
	case r.After != nil:
		return booked.Add(r.After.D())
	case r.Every != nil && r.Offset == nil:
		return booked.Add(r.Every.D())
	default:
		return booked
	}
}

// Normal returns the rule with its defaults, in a form that is equal for all rules of one
// meaning.
func (r Rule) Normal() Rule {
	texts, _ := r.expressions()
	r.Crons = meanings(texts, r.form())
	r.Cron, r.Seconds, r.Dialect = nil, false, ""
	r.Exclude = meanings(r.Exclude, calendar.Form{})
	r.At, r.Before = sorted(r.At), sorted(r.Before)
	if r.Timezone == "UTC" {
		r.Timezone = ""
	}
	if r.Missed == "" {
		r.Missed = MissedFireOnce
	}
	if r.OnFailure == "" {
		r.OnFailure = OnFailureContinue
	}
	return r
}

// meanings returns expressions and dates in their common form.
func meanings(texts []string, form calendar.Form) (all []string) {
	for _, text := range texts {
		all = append(all, calendar.Meaning(text, form))
	}
	return sorted(all)
}

// sorted returns the values in order, each once; nil for none.
func sorted[T cmp.Ordered](values []T) []T {
	if len(values) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// RingAt returns when to ring for a nominal time: up to Jitter later. The same seed and nominal
// time always give the same result. The seed, such as the booking's id, spreads timers with the
// same rule.
func (r Rule) RingAt(nominal wire.Instant, seed string) wire.Instant {
	sum := sha256.Sum256([]byte(seed + "\n" + nominal.String()))
	chance := binary.BigEndian.Uint64(sum[:8])
	late, _ := bits.Mul64(chance, uint64(r.Jitter.D().Milliseconds()))
	return nominal + wire.Instant(late)
}

// rule returns the calendar rule of the recurrence, from a moment on. anchor is the first moment
// of a fixed rate or delay.
func (r Rule) rule(anchor, from wire.Instant) calendar.Rule {
	texts, _ := r.expressions()
	rule := calendar.Rule{
		Crons: texts, Form: r.form(), Timezone: r.Timezone, Exclude: r.Exclude,
		Anchor: anchor.Time(), From: from.Time(), Moments: r.moments(),
	}
	switch {
	case r.Every != nil:
		rule.Every = r.Every.D()
	case r.After != nil:
		rule.Every = r.After.D()
	}
	if r.Offset != nil {
		rule.Anchor = wire.Instant(r.Offset.D().Milliseconds()).Time()
	}
	if r.EndAt != 0 {
		rule.To = r.EndAt.Time()
	}
	return rule
}

// Until returns the rule up to and including a moment.
func (r Rule) Until(end wire.Instant) Rule {
	if r.EndAt == 0 || end < r.EndAt {
		r.EndAt = end
	}
	return r
}

// MinInterval returns the shortest time between two nominal times, ignoring exclusions; see
// [calendar.Rule.ShortestGap]. If a rule rings once in [wire.MaxAhead], the interval is that
// time. The recurrence must have passed Check.
func (r Rule) MinInterval() time.Duration { return r.rule(0, 0).ShortestGap(wire.MaxAhead) }
