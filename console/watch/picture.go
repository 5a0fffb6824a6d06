package watch

import (
	"maps"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Picture is what is known of the whole installation. What cannot be read stays as it was.
type Picture struct {
	At time.Time
	Answers
	Times
	Samples

	Paused   []calls.Pause
	Policies []calls.Policy
	// Counts are how many timers each business type has, and All how many there are, also of types without
	// a policy, as of CountedAt. All is nil for who sees some types only.
	Counts map[string]*calls.Counts
	All    *calls.Counts
	// Strays are business types that have timers and no policy, as of CountedAt.
	Strays []string
	// LastDelivered was delivered last, as of CountedAt; nil where that is not known.
	LastDelivered *calls.Timer
	Future
	// Past is how the last day was, by business type, as of PastAt.
	Past map[string]*Past
	// report is the report of the last day, by business type, as of CountedAt; nil if it cannot be read.
	report map[string]calls.Objective
}

// Future is what falls due, by business type, as of AheadAt.
type Future struct {
	// Forecasts are the forecasts of the next day, and Ahead has the first overflow of each.
	Forecasts map[string]*calls.Forecast
	Ahead     map[string]Overflow
	// Soon are the minutes of the next hour.
	Soon map[string]*calls.Forecast
}

// seenBy is the part of a future that a visitor may see.
func (f Future) seenBy(sees func(string) bool) Future {
	return Future{Forecasts: whereKey(f.Forecasts, sees), Ahead: whereKey(f.Ahead, sees), Soon: whereKey(f.Soon, sees)}
}

// Times are when parts of a picture were read last.
type Times struct {
	// SeldomAt is when the parts that change seldom were read: workers, policies, and overdue timers.
	SeldomAt                   time.Time
	CountedAt, AheadAt, PastAt time.Time
}

// Answers are who answered when a picture was made.
type Answers struct {
	// Temporal and Workers are when they answered last; the zero time for not yet.
	Temporal, Workers time.Time
	// Listed is when all lists of Temporal's visibility could be read last.
	Listed time.Time
	// Away are the parts that could not be read this time.
	Away map[Part]bool
	// Took is how long the answers of a part took, the longest of them.
	Took map[Part]time.Duration
}

// Part is one of what a picture shows.
type Part string

// The parts of a picture.
const (
	PartEngine   Part = "engine"
	PartPaused   Part = "paused"
	PartWorkers  Part = "workers"
	PartPolicies Part = "policies"
	PartCounts   Part = "counts"
	PartTimers   Part = "timers"
)

// listed are the parts that are lists of Temporal's visibility.
var listed = []Part{PartPaused, PartPolicies, PartCounts, PartTimers}

// allAway are all parts.
func allAway() map[Part]bool {
	return map[Part]bool{PartEngine: true, PartWorkers: true, PartPaused: true, PartPolicies: true, PartCounts: true, PartTimers: true}
}

// Types are the known business types. Those with a policy come first. The others have timers or are paused, and
// only their names are known.
func (p *Picture) Types() []calls.Policy {
	others := map[string]bool{}
	for _, one := range p.Paused {
		others[one.BusinessType] = !one.Everything
	}
	for _, businessType := range p.Strays {
		others[businessType] = true
	}
	for _, businessType := range p.sampledTypes() {
		others[businessType] = true
	}
	for _, policy := range p.Policies {
		delete(others, policy.BusinessType)
	}
	all := slices.Clone(p.Policies)
	for _, businessType := range slices.Sorted(maps.Keys(others)) {
		if others[businessType] {
			all = append(all, calls.Policy{BusinessType: businessType})
		}
	}
	return all
}

// Foreseen are the business types whose past and time ahead are looked at.
func (p *Picture) Foreseen() []calls.Policy {
	all := p.Types()
	return all[:min(len(all), tuning.LookTypes)]
}

// Unseen reports whether the first look has not ended yet: who answers is not known.
func (p *Picture) Unseen() bool { return p.At.IsZero() }

// EngineAway reports whether Temporal did not answer.
func (a Answers) EngineAway() bool { return a.Away[PartEngine] }

// ListsAway reports whether a list of Temporal's visibility could not be read.
func (p *Picture) ListsAway() bool {
	return slices.ContainsFunc(listed, func(part Part) bool { return p.Away[part] })
}

// Overflow is the first minute ahead whose timers are late, since the limit lets through less. Where no minute
// alone has too many it is a step of several.
type Overflow struct {
	At       time.Time
	Due      int
	Rate     float64
	Lateness time.Duration
}

// SeenBy is the part of a picture that a visitor may see.
func (p *Picture) SeenBy(who *auth.Principal) *Picture {
	seen := *p
	sees := func(businessType string) bool { return who.May(auth.Viewer, businessType) }
	seen.Paused = calls.Where(p.Paused, func(one calls.Pause) bool { return one.Everything || sees(one.BusinessType) })
	seen.Policies = calls.Where(p.Policies, func(one calls.Policy) bool { return sees(one.BusinessType) })
	seen.Counts, seen.Future = whereKey(p.Counts, sees), p.Future.seenBy(sees)
	seen.Strays = calls.Where(p.Strays, sees)
	seen.Past = whereKey(p.Past, sees)
	if !who.May(auth.Viewer, "") {
		seen.All = nil
	}
	if p.LastDelivered != nil && !sees(p.LastDelivered.BusinessType) {
		seen.LastDelivered = nil
	}
	seen.Samples = p.Samples.seenBy(who)
	return &seen
}

// InStatus is how many timers there are of a status; of all together for "".
func (p *Picture) InStatus(status string) (n int) {
	if p.All != nil {
		return p.All.InStatus(status)
	}
	for _, counts := range p.Counts {
		n += counts.InStatus(status)
	}
	return n
}

func whereKey[V any](all map[string]V, keep func(string) bool) map[string]V {
	kept := map[string]V{}
	for key, value := range all {
		if keep(key) {
			kept[key] = value
		}
	}
	return kept
}

// Everything is the emergency of all business types; nil where there is none.
func (p *Picture) Everything() *calls.Pause {
	if i := slices.IndexFunc(p.Paused, func(one calls.Pause) bool { return one.Everything }); i >= 0 {
		return &p.Paused[i]
	}
	return nil
}

// PausedType is the emergency of one business type; nil where there is none.
func (p *Picture) PausedType(businessType string) *calls.Pause {
	if i := slices.IndexFunc(p.Paused, func(one calls.Pause) bool { return !one.Everything && one.BusinessType == businessType }); i >= 0 {
		return &p.Paused[i]
	}
	return nil
}
