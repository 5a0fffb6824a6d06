package watch

import (
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Samples are some timers each, by business type.
type Samples struct {
	// Overdue should have been taken by a worker, Failed have failed just now, Open are being delivered, and
	// Recurring wait for their next occurrence, those first whose last one ended last.
	Overdue, Failed, Open, Recurring map[string]*Sample
	// looked is when a type was seen in a list, or asked for by itself.
	looked map[seen]time.Time
}

// seenBy returns the samples that a visitor may see.
func (s Samples) seenBy(who *auth.Principal) Samples {
	sees := func(businessType string) bool { return who.May(auth.Viewer, businessType) }
	return Samples{
		Overdue: whereKey(s.Overdue, sees), Failed: whereKey(s.Failed, sees),
		Open: whereKey(s.Open, sees), Recurring: whereKey(s.Recurring, sees),
	}
}

// Sample is some timers of a business type.
type Sample struct {
	Timers []calls.Timer
	// More reports whether there are more than were read.
	More bool
}

// String is how many they are, as far as they were read.
func (s *Sample) String() string {
	if s.More {
		return strconv.Itoa(len(s.Timers)) + "+"
	}
	return strconv.Itoa(len(s.Timers))
}

// Failure is why the first of them failed for which that is known; nil for none.
func (s *Sample) Failure() *calls.Failure {
	for _, one := range s.Timers {
		if failure := one.Failure(); failure != nil {
			return failure
		}
	}
	return nil
}

// RetriedFrom are the timers of a type that were tried in vain from one time to another, and are tried again;
// nil for none.
func (p *Picture) RetriedFrom(businessType string, from, to time.Time) *Sample {
	return p.Retried(businessType).where(func(one calls.Timer) bool {
		return !one.LastFailure.At.Before(from) && !one.DueAt.After(to)
	})
}

// where returns the timers of a sample that meet a condition; nil for none.
func (s *Sample) where(holds func(calls.Timer) bool) *Sample {
	if s == nil {
		return nil
	}
	kept := calls.Where(s.Timers, holds)
	if len(kept) == 0 {
		return nil
	}
	return &Sample{Timers: kept, More: s.More}
}

// Retried are the timers of a type whose last attempt has failed, and that wait for the next one; nil for
// none. What the receiver has accepted is not among them.
func (p *Picture) Retried(businessType string) *Sample {
	return p.Open[businessType].where(func(one calls.Timer) bool {
		return one.LastFailure != nil && one.WaitsFor != calls.WaitsForAck && one.WaitsFor != calls.WaitsForReceiver
	})
}

// Unreceived are the timers of a type that wait for a receiver that connects; nil for none.
func (p *Picture) Unreceived(businessType string) *Sample {
	return p.Open[businessType].where(func(one calls.Timer) bool { return one.WaitsFor == calls.WaitsForReceiver })
}

// Recurred are the recurring timers of a type that go on, and whose last occurrence has failed just now; nil
// for none.
func (p *Picture) Recurred(businessType string) *Sample {
	return p.RecurredFrom(businessType, p.At.Add(-tuning.FailedWithin), p.At)
}

// RecurredFrom are those whose last occurrence has failed from one time to another. Between two occurrences
// they are scheduled, and during one they are open.
func (p *Picture) RecurredFrom(businessType string, from, to time.Time) *Sample {
	failed := func(one calls.Timer) bool {
		return one.LastOccurrence.Failed() && !one.LastOccurrence.FailedAt().Before(from) && !one.LastOccurrence.FailedAt().After(to)
	}
	waiting, ringing := p.Recurring[businessType].where(failed), p.Open[businessType].where(failed)
	switch {
	case waiting == nil:
		return ringing
	case ringing == nil:
		return waiting
	}
	all := &Sample{Timers: slices.Clone(waiting.Timers), More: waiting.More || ringing.More}
	for _, one := range ringing.Timers {
		if !slices.ContainsFunc(all.Timers, func(known calls.Timer) bool { return known.Key == one.Key }) {
			all.Timers = append(all.Timers, one) // the lists are not of one moment
		}
	}
	return all
}

// retrying are the timers of a type that are being tried again; nil for none. What is held back is not.
func (p *Picture) retrying(businessType string) *Sample {
	if p.IsHeld(businessType) {
		return nil
	}
	return p.Retried(businessType)
}

// repeated are the attempts of a type that just failed and were repeated; nil for few, and where they are held back.
func (p *Picture) repeated(businessType string) *Repeated {
	if past := p.Past[businessType]; past != nil && !p.IsHeld(businessType) {
		return past.Repeated
	}
	return nil
}

// Failing reports whether timers of a type fail: now, just now, occurrence by occurrence, or before they end well.
func (p *Picture) Failing(businessType string) bool {
	return p.Failed[businessType] != nil || p.retrying(businessType) != nil || p.Recurred(businessType) != nil ||
		p.repeated(businessType) != nil
}

// WhyFailing is why timers of a type fail; nil where that is not known.
func (p *Picture) WhyFailing(businessType string) *calls.Failure {
	for _, s := range []*Sample{p.Failed[businessType], p.retrying(businessType), p.Recurred(businessType)} {
		if s == nil {
			continue
		}
		if failure := s.Failure(); failure != nil {
			return failure
		}
	}
	if repeated := p.repeated(businessType); repeated != nil {
		return repeated.Failure
	}
	return nil
}

// FailingTypes are the business types of which timers fail.
func (p *Picture) FailingTypes() (all []string) {
	for _, one := range p.Types() {
		if p.Failing(one.BusinessType) {
			all = append(all, one.BusinessType)
		}
	}
	return all
}

// sampledTypes are the business types that any sample is of.
func (s Samples) sampledTypes() (all []string) {
	for _, samples := range []map[string]*Sample{s.Overdue, s.Failed, s.Open, s.Recurring} {
		for businessType := range samples {
			all = append(all, businessType)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
