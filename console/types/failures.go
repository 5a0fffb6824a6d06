package types

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
)

// failures groups the timers of a type that failed, that are tried again, or whose last occurrence failed. A group
// has one kind of failure.
type failures struct {
	Groups []failureGroup
	// N is how many have failed for good, as far as they were counted, and More whether there are more.
	N    int
	More bool
	// From and To are the time that is looked at. Named reports whether the address of the page names it.
	From, To time.Time
	Named    bool
	// Search finds those that have failed for good.
	Search string
	// Lists lead to all of them, each with the key of its text.
	Lists []failureList
	// Unread reports whether they cannot be read now.
	Unread bool
}

// failureGroup has the timers with one kind of failure.
type failureGroup struct {
	// Failure is the failure of the example; nil if it is not known.
	Failure *calls.Failure
	// As is a key of the catalogues: what they are if they have not failed for good.
	As string
	// N is how many they are, as far as they were read, and More whether there may be more.
	N       int
	More    bool
	Example calls.Timer
}

type failureList struct{ Key, Link string }

// failuresWithin is how far the page of a type looks back, and aroundMinute how far around the
// minute that an alert names.
const (
	failuresWithin = time.Hour
	aroundMinute   = 5 * time.Minute
)

// failuresOf reads what has failed in the last hour, around the minute of ?at=, or between its two times. What
// goes on is in the picture that all share.
func (c *Pages) failuresOf(v *site.Visit, businessType string, known *watch.Picture) (found failures) {
	from, to, named := spanOf(v.R.FormValue("at"), c.Now())
	found.From, found.To, found.Named = from, to, named
	of := links.TypedAs(businessType)
	found.Search = of + " status:" + calls.StatusFailed + " ended:" + words.ISO(from) + ".." + words.ISO(to)
	query := search.Parse(found.Search, c.Now()).All()
	query.Set("page_size", strconv.Itoa(site.PageSize))
	all, problem := c.FindTimers(v, query)
	if found.Unread = problem != nil; found.Unread {
		return found
	}
	found.N, found.More = len(all.Timers), all.NextPageToken != ""
	retried, recurred := known.RetriedFrom(businessType, from, to), known.RecurredFrom(businessType, from, to)
	found.add("", &watch.Sample{Timers: all.Timers, More: found.More}, failureList{"type.showfailed", found.Search})
	found.add("plots.retried", retried, failureList{"type.showretried", of + " status:" + calls.StatusDelivering})
	found.add("view.recurring", recurred, failureList{"type.showrecurring", of + " is:recurring"})
	slices.SortStableFunc(found.Groups, func(a, b failureGroup) int { return b.N - a.N })
	return found
}

// add adds timers in groups, and the list that a search finds.
func (f *failures) add(as string, some *watch.Sample, list failureList) {
	if some == nil || len(some.Timers) == 0 {
		return
	}
	list.Link = links.List(list.Link, "")
	f.Lists = append(f.Lists, list)
	for _, one := range some.Timers {
		failure := one.LastFailure
		if as == "view.recurring" {
			failure = one.LastOccurrence.LastFailure
		}
		i := slices.IndexFunc(f.Groups, func(g failureGroup) bool { return g.Failure.Like(failure) && g.As == as })
		if i < 0 {
			i = len(f.Groups)
			f.Groups = append(f.Groups, failureGroup{Failure: failure, As: as, More: some.More, Example: one})
		}
		f.Groups[i].N++
	}
}

// spanOf is the last hour, or what ?at= names: around a minute, or from one time to another.
func spanOf(at string, now time.Time) (from, to time.Time, named bool) {
	first, last, isSpan := strings.Cut(at, "..")
	from, ok := momentBefore(first, now)
	switch to, until := momentBefore(last, now); {
	case ok && until && from.Before(to):
		return from, to, true
	case ok && !isSpan:
		return from.Add(-aroundMinute), from.Add(aroundMinute), true
	default:
		return now.Add(-failuresWithin), now, false
	}
}

// momentBefore is a time that ?at= names. A time of day that is still to come was meant of yesterday: an alert
// from before midnight is read after it. The clock of the alert may be a little ahead.
func momentBefore(text string, now time.Time) (time.Time, bool) {
	at, ok := search.MomentOf(text, now.UTC().Truncate(words.Day))
	if ok && len(text) <= len(time.TimeOnly) && at.After(now.Add(aroundMinute)) {
		at = at.Add(-words.Day)
	}
	return at, ok
}
