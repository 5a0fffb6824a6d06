package watch

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/tuning"
)

// sampling is a list of timers in a status, of which the first page is read.
type sampling struct {
	name, status string
	query        url.Values
	into         *map[string]*Sample
	// full reports whether there are more timers than were read.
	full bool
}

// seen names a business type in a list.
type seen struct{ list, businessType string }

// timers samples the timers that failed just now, and those that are being delivered while these are few. Less
// often it samples all delivering, recurring and overdue timers. Then it asks for the types that a full list hides,
// a few at a time.
func (l *looker) timers() {
	if l.looked = maps.Clone(l.looked); l.looked == nil {
		l.looked = map[seen]time.Time{}
	}
	l.forget()
	s := sampler{l}
	lists := []*sampling{s.failed()}
	if l.seldom || !crowded(l.Open) {
		lists = append(lists, s.open())
	}
	if l.seldom {
		lists = append(lists, s.recurring(), s.overdue())
	}
	for _, list := range lists {
		if !s.sample(list) {
			return
		}
	}
	if l.seldom {
		s.readHidden(lists)
	}
	s.readFailed()
}

// crowded reports whether there are more timers than were read.
func crowded(found map[string]*Sample) bool {
	for _, s := range found {
		if s.More {
			return true
		}
	}
	return false
}

// forget drops when types without a policy were seen, after a while: they may never come back.
func (l *looker) forget() {
	known := map[string]bool{}
	for _, policy := range l.Policies {
		known[policy.BusinessType] = true
	}
	maps.DeleteFunc(l.looked, func(one seen, at time.Time) bool {
		return !known[one.businessType] && l.At.Sub(at) >= tuning.FailedWithin
	})
}

// sampler reads the samples of a picture.
type sampler struct{ *looker }

func (l sampler) failed() *sampling {
	query := url.Values{"ended_from": {words.ISO(l.At.Add(-tuning.FailedWithin))}, "attempts": {"false"}}
	return &sampling{name: "failed", status: calls.StatusFailed, query: query, into: &l.Failed}
}

// open is read with the attempts: what has failed last, and what each timer waits for, is in no list.
func (l sampler) open() *sampling {
	return &sampling{name: "open", status: calls.StatusDelivering, query: url.Values{}, into: &l.Open}
}

func (l sampler) recurring() *sampling {
	query := url.Values{"recurring": {"true"}, "attempts": {"false"}}
	return &sampling{name: "recurring", status: calls.StatusScheduled, query: query, into: &l.Recurring}
}

func (l sampler) overdue() *sampling {
	query := url.Values{"due_to": {words.ISO(l.At.Add(-tuning.OverdueAfter))}, "attempts": {"false"}}
	return &sampling{name: "overdue", status: calls.StatusScheduled, query: query, into: &l.Overdue}
}

// sample reads the timers that a list begins with, by business type. Types that others crowd out keep what
// was known of them. It reports whether there was an answer.
func (l sampler) sample(list *sampling) bool {
	before := *list.into
	found, answered := l.page(list, "")
	if !answered {
		return false
	}
	if *list.into = found; !list.full {
		return true
	}
	for businessType, s := range before {
		age := l.At.Sub(l.looked[seen{list.name, businessType}])
		if found[businessType] == nil && l.isHidden(list, businessType) && age < tuning.FailedWithin {
			found[businessType] = s
		}
	}
	return true
}

// page reads the first timers of a list, of all business types for "".
func (l sampler) page(list *sampling, businessType string) (byType map[string]*Sample, answered bool) {
	query := maps.Clone(list.query)
	query.Set("status", list.status)
	query.Set("page_size", strconv.Itoa(tuning.SampledTimers))
	if businessType != "" {
		query.Set("business_type", businessType)
		l.looked[seen{list.name, businessType}] = l.At
	}
	var found calls.TimerPage
	if !l.read(PartTimers, calls.Root+"timers", query, &found) {
		return nil, false
	}
	more := found.NextPageToken != ""
	list.full = list.full || more && businessType == ""
	byType = map[string]*Sample{}
	for _, one := range found.Timers {
		if byType[one.BusinessType] == nil {
			byType[one.BusinessType] = &Sample{More: more}
			l.looked[seen{list.name, one.BusinessType}] = l.At
		}
		s := byType[one.BusinessType]
		s.Timers = append(s.Timers, one)
	}
	return byType, true
}

// isHidden reports whether a full list may hide timers of a type. Of one that is held back none is missed.
func (l sampler) isHidden(list *sampling, businessType string) bool {
	counts := l.Counts[businessType]
	return !l.IsHeld(businessType) && (counts == nil || counts.InStatus(list.status) > 0)
}

// hidden is a type that a full list hides.
type hidden struct {
	list         *sampling
	businessType string
}

// readHidden asks for some types that full lists hide. The type that was seen longest ago comes first. The lists
// take turns: one that hides hundreds of types keeps no other waiting.
func (l sampler) readHidden(lists []*sampling) {
	turns := make([]hidden, 0, len(lists))
	for _, list := range lists {
		if businessType := l.longestUnseen(list); businessType != "" {
			turns = append(turns, hidden{list, businessType})
		}
	}
	turn := func(of hidden) time.Time { return l.looked[seen{of.list.name, ""}] }
	slices.SortStableFunc(turns, func(a, b hidden) int { return turn(a).Compare(turn(b)) })
	for _, one := range turns[:min(len(turns), tuning.LookHidden)] {
		found, answered := l.page(one.list, one.businessType)
		if !answered {
			return
		}
		l.looked[seen{one.list.name, ""}] = l.At
		delete(*one.list.into, one.businessType)
		maps.Copy(*one.list.into, found)
	}
}

// longestUnseen is the type that a full list does not show, and was looked for longest ago; "" for none.
func (l sampler) longestUnseen(list *sampling) (businessType string) {
	if !list.full {
		return ""
	}
	var at time.Time
	for _, policy := range l.Policies {
		of := policy.BusinessType
		seenAt := l.looked[seen{list.name, of}]
		if seenAt.Equal(l.At) || !l.isHidden(list, of) {
			continue
		}
		if businessType == "" || seenAt.Before(at) {
			businessType, at = of, seenAt
		}
	}
	return businessType
}

// readFailed reads of some types one that has failed, with the reason, which the list has not.
func (l sampler) readFailed() {
	types := slices.Sorted(maps.Keys(l.Failed))
	for _, businessType := range types[:min(len(types), tuning.SampledTypes)] {
		s := l.Failed[businessType]
		whole := s.Timers[0] // one that is gone meanwhile stays as the list has it
		if problem := l.api.InContext(l.ctx, calls.Get(whole.Resource()), &whole); problem == nil {
			l.Failed[businessType] = &Sample{Timers: append([]calls.Timer{whole}, s.Timers[1:]...), More: s.More}
		}
	}
}
