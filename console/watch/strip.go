package watch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/words"
)

// Notice is one fact of the strip: a text of the catalogues with its values, and where it leads.
type Notice struct {
	State State
	// BusinessType is the type in that state; "" for the whole installation.
	BusinessType string
	Key          string
	With         []any
	Link         string
	// Note is the note of its author.
	Note string
}

// Alarming reports whether the fact calls for action now.
func (n Notice) Alarming() bool { return n.State.Compare(Failing) <= 0 }

// NoticesOf are the facts of a picture, gravest first. There are none where all is well.
func NoticesOf(p *Picture) (all []Notice) {
	all = append(p.everything(), p.absences()...)
	for _, policy := range p.Types() {
		for _, state := range p.States(policy) {
			for _, one := range p.notices(policy, state) {
				one.State, one.BusinessType = state, policy.BusinessType
				one.Link = cmp.Or(one.Link, links.TypePath(policy.BusinessType))
				all = append(all, one)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Notice) int {
		return cmp.Or(a.State.Compare(b.State), strings.Compare(a.BusinessType, b.BusinessType))
	})
	return all
}

// Fold returns at most so many facts to show, and the others. No business type has two of those that are shown: its
// gravest one stands for it.
func Fold(all []Notice, most int) (shown, folded []Notice) {
	named := map[string]bool{}
	for _, one := range all {
		if len(shown) == most || named[one.BusinessType] {
			folded = append(folded, one)
			continue
		}
		shown, named[one.BusinessType] = append(shown, one), one.BusinessType != ""
	}
	return shown, folded
}

func (p *Picture) everything() []Notice {
	one := p.Everything()
	if one == nil {
		return nil
	}
	return []Notice{{State: everything, Key: "strip.everything", With: []any{one.Author, one.Since}, Link: links.Emergency, Note: one.Note}}
}

// absences are who does not answer. Without Temporal nothing is known of the workers.
func (p *Picture) absences() []Notice {
	switch {
	case p.Unseen():
		return []Notice{{State: unseen, Key: "strip.unseen", Link: links.Health}}
	case p.EngineAway() && p.Temporal.IsZero():
		return []Notice{{State: engineAway, Key: "strip.engine.never", Link: links.Health}}
	case p.EngineAway():
		return []Notice{{State: engineAway, Key: "strip.engine", With: []any{p.Temporal}, Link: links.Health}}
	case p.Away[PartWorkers]:
		return []Notice{{State: workersAway, Key: "strip.workers", Link: links.Health}}
	default:
		return nil
	}
}

// notices are the facts of a business type in a state. They lead to its page, or to its timers.
func (p *Picture) notices(of calls.Policy, state State) []Notice {
	businessType := of.BusinessType
	typed := links.TypedAs(businessType)
	switch state {
	case Emergency:
		one := p.PausedType(businessType)
		if one == nil { // everything is paused, which is told once
			return nil
		}
		return []Notice{{Key: "strip.type", With: []any{businessType, one.Author, one.Since}, Note: one.Note}}
	case Overdue:
		link := links.List(typed+" status:"+calls.StatusScheduled+" sort:due", "")
		return []Notice{{Key: "strip.overdue", With: []any{businessType, p.Overdue[businessType]}, Link: link}}
	case Failing:
		return p.failures(businessType)
	case Paused:
		return []Notice{{Key: "strip.policy", With: []any{businessType, cmp.Or(of.PausedBy, "-"), of.PausedAt}}}
	case Pressed:
		return []Notice{{Key: "strip.pressure", With: []any{businessType, of.BackPressure.Until}}}
	case Streamless:
		link := links.List(typed+" status:"+calls.StatusDelivering, "")
		return []Notice{{Key: "strip.receiver", With: []any{businessType, p.Unreceived(businessType)}, Link: link}}
	case Overflowing:
		o := p.Ahead[businessType]
		with := []any{o.At, businessType, o.Due, words.PerMinute(o.Rate), o.Lateness}
		return []Notice{{Key: "strip.ahead", With: with, Link: links.Root + "forecast?type=" + businessType}}
	default:
		return nil
	}
}

// failures are what fails of a business type: for good, by an occurrence, now, or before it ends well.
func (p *Picture) failures(businessType string) (all []Notice) {
	typed := links.TypedAs(businessType)
	if s := p.Failed[businessType]; s != nil {
		all = append(all, failed(businessType, s))
	}
	if s := p.Recurred(businessType); s != nil {
		all = append(all, Notice{Key: "strip.recurring", With: because(businessType, s), Link: links.List(typed+" is:recurring", "")})
	}
	if s := p.retrying(businessType); s != nil {
		link := links.List(typed+" status:"+calls.StatusDelivering, "")
		all = append(all, Notice{Key: "strip.retrying", With: because(businessType, s), Link: link})
	}
	if r := p.repeated(businessType); r != nil {
		one := Notice{Key: "strip.repeats", With: []any{businessType, r.N, r.Of}}
		if why := p.WhyFailing(businessType); why != nil { // a timer that the second link took does not tell
			one.Key, one.With = "strip.repeated", append(one.With, why)
		}
		all = append(all, one)
	}
	return all
}

// failed says how many have failed, and why where that was read.
func failed(businessType string, s *Sample) Notice {
	link := links.List(links.TypedAs(businessType)+" status:"+calls.StatusFailed+" ended:10m", "")
	if s.Failure() == nil { // it is not read of every type
		return Notice{Key: "strip.failed", With: []any{businessType, s}, Link: link}
	}
	return Notice{Key: "strip.failing", With: because(businessType, s), Link: link}
}

// because are the values of a text about timers and why they failed.
func because(businessType string, s *Sample) []any {
	return []any{businessType, s, s.Failure()}
}

// IsHeld reports whether a pause or back-pressure holds the callbacks of a type back.
func (p *Picture) IsHeld(businessType string) bool {
	if p.Everything() != nil || p.PausedType(businessType) != nil {
		return true
	}
	return slices.ContainsFunc(p.Policies, func(one calls.Policy) bool {
		return one.BusinessType == businessType && (one.Paused || one.PressedAt(p.At))
	})
}

// HeldTypes are the business types whose callbacks an operator or a receiver holds back.
func (p *Picture) HeldTypes() (all []string) {
	for _, one := range p.Types() {
		if p.IsHeld(one.BusinessType) {
			all = append(all, one.BusinessType)
		}
	}
	return all
}
