package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// picture is what is known of the whole installation. What cannot be read stays as it was.
type picture struct {
	At time.Time
	// Temporal and Workers are when they answered last; the zero time for not yet.
	Temporal, Workers time.Time
	// Listed is when all lists of Temporal's visibility could be read last.
	Listed time.Time
	// Away are the parts that could not be read this time.
	Away map[part]bool

	Paused   []Pause
	Policies []Policy
	Counts   map[string]*Counts
	// Overdue, Failed and Open are some timers each, by business type.
	Overdue, Failed, Open map[string]*sample
	// Forecasts are what falls due in the next day, and Ahead where it is too much.
	Forecasts map[string]*Forecast
	Ahead     map[string]overflow
}

// part is one of what a picture shows.
type part string

const (
	partPaused   part = "paused"
	partWorkers  part = "workers"
	partPolicies part = "policies"
	partCounts   part = "counts"
	partTimers   part = "timers"
)

// sample is some timers of a business type.
type sample struct {
	N int
	// More reports whether there are more than were counted.
	More bool
	// Example is one of them, in full.
	Example Timer
}

// overflow is the first step ahead whose timers are late, since the limit lets through less.
type overflow struct {
	At       time.Time
	Due      int
	Rate     float64
	Lateness string
}

// watcher is who looks: it sees everything but payloads. What a visitor is shown of it is for
// [picture.seenBy].
var watcher = &auth.Principal{
	Name: "console", By: auth.ByNothing, Via: auth.ViaConsole,
	Grants: []auth.Grant{{Role: auth.Viewer, Types: []string{auth.AllBusinessTypes}}},
}

// look makes a picture. Each part that cannot be read is kept from the last one.
func look(api Sender, last *picture, now time.Time) *picture {
	ctx, cancel := context.WithTimeout(auth.With(context.Background(), watcher), tuning.LookTimeout)
	defer cancel()
	next := *last
	next.At, next.Away = now, map[part]bool{}
	l := &looker{api: api, ctx: ctx, picture: &next}
	l.paused()
	l.workers()
	l.policies()
	l.counts()
	l.timers()
	if !next.Away[partPolicies] && !next.Away[partCounts] && !next.Away[partTimers] {
		next.Listed = next.At
	}
	l.ahead()
	return &next
}

// looker makes one picture.
type looker struct {
	*picture
	api Sender
	ctx context.Context
	// examples counts the timers that were read in full.
	examples int
}

// read asks for one answer. A part that is not answered is away.
func (l *looker) read(of part, path string, query url.Values, to any) bool {
	problem := l.api.inContext(l.ctx, call{method: http.MethodGet, path: path, query: query}, to)
	if problem != nil {
		l.Away[of] = true
	}
	return problem == nil
}

// paused tells as well whether Temporal answers: the list comes from there.
func (l *looker) paused() {
	var all struct {
		Paused []Pause `json:"paused"`
	}
	if l.read(partPaused, apiRoot+"emergency", nil, &all) {
		l.Paused, l.Temporal = all.Paused, l.At
	}
}

// workers asks whether a timer that is booked now would ring.
func (l *looker) workers() {
	if l.read(partWorkers, "/readyz", nil, &struct{}{}) {
		l.Workers = l.At
	}
}

func (l *looker) policies() {
	var all struct {
		Policies []Policy `json:"policies"`
	}
	if l.read(partPolicies, apiRoot+"policies", nil, &all) {
		l.Policies = all.Policies
	}
}

func (l *looker) counts() {
	var counted struct {
		BusinessTypes []struct {
			BusinessType string `json:"business_type"`
			Timers       Counts `json:"timers"`
		} `json:"business_types"`
	}
	if !l.read(partCounts, apiRoot+"stats", nil, &counted) {
		return
	}
	l.Counts = map[string]*Counts{}
	for _, one := range counted.BusinessTypes {
		l.Counts[one.BusinessType] = &one.Timers
	}
}

// timers reads what is overdue, what has failed just now, and what is being delivered.
func (l *looker) timers() {
	now := l.At
	l.Overdue = l.sampled(l.Overdue, url.Values{"status": {statusScheduled}, "due_to": {iso(now.Add(-tuning.OverdueAfter))}})
	l.Failed = l.sampled(l.Failed, url.Values{"status": {statusFailed}, "ended_from": {iso(now.Add(-tuning.FailedWithin))}})
	l.Open = l.sampled(l.Open, url.Values{"status": {statusDelivering}})
}

// sampled are the timers that a list begins with, by business type.
func (l *looker) sampled(last map[string]*sample, query url.Values) map[string]*sample {
	query.Set("attempts", "false")
	query.Set("page_size", strconv.Itoa(tuning.SampledTimers))
	var found struct {
		Timers        []Timer `json:"timers"`
		NextPageToken string  `json:"next_page_token"`
	}
	if !l.read(partTimers, apiRoot+"timers", query, &found) {
		return last
	}
	byType := map[string]*sample{}
	for _, one := range found.Timers {
		if byType[one.BusinessType] == nil {
			byType[one.BusinessType] = &sample{Example: one, More: found.NextPageToken != ""}
		}
		byType[one.BusinessType].N++
	}
	for _, s := range byType {
		if l.examples++; l.examples > tuning.SampledTypes {
			break
		}
		whole := s.Example // one that is gone meanwhile stays as the list has it
		if problem := l.api.inContext(l.ctx, call{method: http.MethodGet, path: timerPath(apiRoot, whole.BusinessType, whole.BusinessID)}, &whole); problem == nil {
			s.Example = whole
		}
	}
	return byType
}

// ahead reads what falls due in the next day, and looks for the first step of each type whose
// timers are late.
func (l *looker) ahead() {
	before := l.Forecasts
	l.Forecasts, l.Ahead = map[string]*Forecast{}, map[string]overflow{}
	for _, policy := range l.Policies[:min(len(l.Policies), tuning.LookTypes)] {
		query := url.Values{"business_type": {policy.BusinessType}, "step": {tuning.LookStep.String()}}
		f := &Forecast{}
		if problem := l.api.inContext(l.ctx, call{method: http.MethodGet, path: apiRoot + "forecast", query: query}, f); problem != nil {
			f = before[policy.BusinessType]
		}
		if f == nil {
			continue
		}
		l.Forecasts[policy.BusinessType] = f
		if at := slices.IndexFunc(f.Steps, func(s Step) bool { return s.Lateness != "" }); at >= 0 && f.CallbacksPerSecond != nil {
			l.Ahead[policy.BusinessType] = overflow{At: f.Steps[at].At, Due: f.Steps[at].Due, Rate: *f.CallbacksPerSecond, Lateness: f.Steps[at].Lateness}
		}
	}
}

// seenBy is a picture without what a visitor may not see.
func (p *picture) seenBy(who *auth.Principal) *picture {
	seen := *p
	sees := func(businessType string) bool { return who.May(auth.Viewer, businessType) }
	seen.Paused = where(p.Paused, func(one Pause) bool { return one.Everything || sees(one.BusinessType) })
	seen.Policies = where(p.Policies, func(one Policy) bool { return sees(one.BusinessType) })
	seen.Counts, seen.Ahead, seen.Forecasts = whereKey(p.Counts, sees), whereKey(p.Ahead, sees), whereKey(p.Forecasts, sees)
	seen.Overdue, seen.Failed, seen.Open = whereKey(p.Overdue, sees), whereKey(p.Failed, sees), whereKey(p.Open, sees)
	return &seen
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

// everything is the emergency of all business types; nil where there is none.
func (p *picture) everything() *Pause {
	if i := slices.IndexFunc(p.Paused, func(one Pause) bool { return one.Everything }); i >= 0 {
		return &p.Paused[i]
	}
	return nil
}

// pausedType is the emergency of one business type; nil where there is none.
func (p *picture) pausedType(businessType string) *Pause {
	if i := slices.IndexFunc(p.Paused, func(one Pause) bool { return !one.Everything && one.BusinessType == businessType }); i >= 0 {
		return &p.Paused[i]
	}
	return nil
}
