package watch

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/words"
)

// grave is how grave a fact of the state strip is. Less is graver.
type grave int

// The order of the strip.
const (
	emergency grave = iota
	engineAway
	workersAway
	overdue
	failing
	held
	streamless
	overflowing
	unseen
)

// Notice is one fact of the strip: a text of the catalogues with its values, and where it leads.
type Notice struct {
	grave grave
	Key   string
	With  []any
	Link  string
	// Note is the note of its author.
	Note string
}

// Alarming reports whether the fact calls for action now.
func (n Notice) Alarming() bool { return n.grave <= failing }

// NoticesOf are the facts of a picture, gravest first. There are none where all is well.
func NoticesOf(p *Picture) (all []Notice) {
	all = slices.Concat(p.pauses(), p.absences(), p.late(), p.failures(), p.waits(), p.holds(), p.overflows())
	slices.SortStableFunc(all, func(a, b Notice) int { return cmp.Compare(a.grave, b.grave) })
	return all
}

func (p *Picture) pauses() (all []Notice) {
	for _, one := range p.Paused {
		if one.Everything {
			with := []any{one.Author, one.Since}
			all = append(all, Notice{grave: emergency, Key: "strip.everything", With: with, Link: links.Emergency, Note: one.Note})
			continue
		}
		with := []any{one.BusinessType, one.Author, one.Since}
		all = append(all, Notice{grave: held, Key: "strip.type", With: with, Link: links.TypePath(one.BusinessType), Note: one.Note})
	}
	return all
}

// absences are who does not answer. Without Temporal nothing is known of the workers.
func (p *Picture) absences() []Notice {
	switch {
	case p.Unseen():
		return []Notice{{grave: unseen, Key: "strip.unseen", Link: links.Health}}
	case p.EngineAway() && p.Temporal.IsZero():
		return []Notice{{grave: engineAway, Key: "strip.engine.never", Link: links.Health}}
	case p.EngineAway():
		return []Notice{{grave: engineAway, Key: "strip.engine", With: []any{p.Temporal}, Link: links.Health}}
	case p.Away[PartWorkers]:
		return []Notice{{grave: workersAway, Key: "strip.workers", Link: links.Health}}
	default:
		return nil
	}
}

// late are the types whose timers should have been taken by a worker, and were not.
func (p *Picture) late() (all []Notice) {
	for _, businessType := range slices.Sorted(maps.Keys(p.Overdue)) {
		if s := p.Overdue[businessType]; !p.isHeld(businessType) {
			link := links.List(links.TypedAs(businessType)+" status:"+calls.StatusScheduled+" sort:due", "")
			all = append(all, Notice{grave: overdue, Key: "strip.overdue", With: []any{businessType, s}, Link: link})
		}
	}
	return all
}

// failures are the types whose timers have failed just now, for good or by an occurrence.
func (p *Picture) failures() (all []Notice) {
	types := p.sampledTypes()
	for _, businessType := range types {
		if s := p.Failed[businessType]; s != nil {
			all = append(all, failed(businessType, s))
		}
	}
	for _, businessType := range types {
		if s := p.Recurred(businessType); s != nil {
			link := links.List(links.TypedAs(businessType)+" is:recurring", "")
			all = append(all, Notice{grave: failing, Key: "strip.recurring", With: because(businessType, s), Link: link})
		}
	}
	return all
}

// waits are the types whose timers are tried again, or wait for a receiver.
func (p *Picture) waits() (all []Notice) {
	for _, businessType := range slices.Sorted(maps.Keys(p.Open)) {
		link := links.List(links.TypedAs(businessType)+" status:"+calls.StatusDelivering, "")
		if s := p.Retried(businessType); s != nil && !p.isHeld(businessType) {
			all = append(all, Notice{grave: failing, Key: "strip.retrying", With: because(businessType, s), Link: link})
		}
		if s := p.Unreceived(businessType); s != nil {
			all = append(all, Notice{grave: streamless, Key: "strip.receiver", With: []any{businessType, s}, Link: link})
		}
	}
	return all
}

// failed says how many have failed, and why where that was read.
func failed(businessType string, s *Sample) Notice {
	link := links.List(links.TypedAs(businessType)+" status:"+calls.StatusFailed+" ended:10m", "")
	if s.Failure() == nil { // it is not read of every type
		return Notice{grave: failing, Key: "strip.failed", With: []any{businessType, s}, Link: link}
	}
	return Notice{grave: failing, Key: "strip.failing", With: because(businessType, s), Link: link}
}

// because are the values of a text about timers and why they failed.
func because(businessType string, s *Sample) []any {
	return []any{businessType, s, s.Failure()}
}

// holds are the types that their policies or their receivers hold back. Each of both has to end.
func (p *Picture) holds() (all []Notice) {
	for _, one := range p.Policies {
		if one.Paused {
			with := []any{one.BusinessType, cmp.Or(one.PausedBy, "-"), one.PausedAt}
			all = append(all, Notice{grave: held, Key: "strip.policy", With: with, Link: links.TypePath(one.BusinessType)})
		}
		if one.PressedAt(p.At) {
			with := []any{one.BusinessType, one.BackPressure.Until}
			all = append(all, Notice{grave: held, Key: "strip.pressure", With: with, Link: links.TypePath(one.BusinessType)})
		}
	}
	return all
}

// isHeld reports whether a pause or back-pressure holds the callbacks of a type back.
func (p *Picture) isHeld(businessType string) bool {
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
		if p.isHeld(one.BusinessType) {
			all = append(all, one.BusinessType)
		}
	}
	return all
}

// overflows are the types of which more falls due than the limit lets through.
func (p *Picture) overflows() (all []Notice) {
	for _, businessType := range slices.Sorted(maps.Keys(p.Ahead)) {
		o := p.Ahead[businessType]
		perMinute := words.Rate(o.Rate * time.Minute.Seconds())
		all = append(all, Notice{
			grave: overflowing, Key: "strip.ahead", With: []any{o.At, businessType, o.Due, perMinute, o.Lateness},
			Link: links.Root + "forecast?type=" + businessType,
		})
	}
	return all
}
