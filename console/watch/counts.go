package watch

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/tuning"
)

// counts reads how many timers each business type has, and what was delivered last. That is a question to
// visibility for each type, and some more, so it rests for each of them.
func (l *looker) counts() {
	questions := tuning.CountsCost*(1+min(len(l.Strays), tuning.CountedStrays)) + len(l.Counts)
	if rest := max(l.pace.Counts, l.pace.Question*time.Duration(questions)); !l.CountedAt.IsZero() && l.At.Sub(l.CountedAt) < rest {
		return
	}
	var all calls.Stats
	if !l.read(PartCounts, calls.Root+"stats", nil, &all) {
		return
	}
	l.Counts, l.All, l.CountedAt = map[string]*calls.Counts{}, &all.Timers, l.At
	others := all.Timers.InStatus("")
	for _, one := range all.BusinessTypes {
		l.Counts[one.BusinessType] = &one.Timers
		others -= one.Timers.InStatus("")
	}
	l.countStrays(others > 0)
	l.report = l.objectives()
	l.lastDelivered()
}

// countStrays counts the timers of the business types without a policy: the count of all types leaves them out.
// Where others remain, the lists of those that wait name their types, and so does the last report: a list may begin
// with the timers of one type.
func (l *looker) countStrays(others bool) {
	names := map[string]bool{}
	for _, one := range l.Strays[:min(len(l.Strays), tuning.CountedStrays)] {
		names[one] = true
	}
	if others {
		for name := range l.report {
			names[name] = true
		}
		for _, status := range []string{calls.StatusScheduled, calls.StatusPaused} {
			for _, one := range l.listed(url.Values{"status": {status}}) {
				names[one.BusinessType] = true
			}
		}
	}
	l.Strays = nil
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if l.Counts[name] == nil && l.hasTimers(name) {
			l.Strays = append(l.Strays, name)
		}
	}
}

// hasTimers reports whether a type without a policy has timers, and counts them for the first of these types.
func (l *looker) hasTimers(businessType string) bool {
	if len(l.Strays) >= tuning.CountedStrays {
		return true
	}
	var of calls.Stats
	if !l.read(PartCounts, calls.Root+"stats", url.Values{"business_type": {businessType}}, &of) {
		return true
	}
	if of.Timers.InStatus("") == 0 {
		return false
	}
	l.Counts[businessType] = &of.Timers
	return true
}

// listed are the timers that a list begins with.
func (l *looker) listed(query url.Values) []calls.Timer {
	query.Set("attempts", "false")
	query.Set("page_size", strconv.Itoa(tuning.SampledTimers))
	var found calls.TimerPage
	l.read(PartTimers, calls.Root+"timers", query, &found)
	return found.Timers
}

// lastDelivered reads the timer that was delivered last. The strip does without.
func (l *looker) lastDelivered() { l.LastDelivered = l.newestDelivered("") }

// newestDelivered reads the timer of a business type that was delivered last, of all types for "": of those that ended
// the list has the latest first. It is nil where that cannot be read.
func (l *looker) newestDelivered(businessType string) *calls.Timer {
	query := url.Values{"status": {calls.StatusDelivered}, "attempts": {"false"}, "page_size": {"1"}}
	if businessType != "" {
		query.Set("business_type", businessType)
	}
	var found calls.TimerPage
	problem := l.api.InContext(l.ctx, calls.Get(calls.Root+"timers").With(query), &found)
	if problem != nil || len(found.Timers) == 0 {
		return nil
	}
	whole := calls.Timer{}
	problem = l.api.InContext(l.ctx, calls.Get(found.Timers[0].Resource()), &whole)
	if problem != nil || whole.DeliveredAt.IsZero() {
		return nil
	}
	return &whole
}
