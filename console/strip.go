package console

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
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
)

// notice is one fact of the strip: a text of the catalogues with its values, and where it leads.
type notice struct {
	grave grave
	key   string
	with  []any
	Link  string
	// Note is what somebody wrote beside it.
	Note string
}

// Alarming reports whether somebody should act now.
func (n notice) Alarming() bool { return n.grave <= failing }

// noticesOf are the facts of a picture, gravest first. There are none where all is well.
func noticesOf(p *picture) (all []notice) {
	all = slices.Concat(p.pauses(), p.absences(), p.late(), p.failures(), p.holds(), p.overflows())
	slices.SortStableFunc(all, func(a, b notice) int { return cmp.Compare(a.grave, b.grave) })
	return all
}

func (p *picture) pauses() (all []notice) {
	for _, one := range p.Paused {
		if one.Everything {
			all = append(all, notice{grave: emergency, key: "strip.everything", with: []any{one.Author, one.Since}, Link: emergencyPath, Note: one.Note})
			continue
		}
		all = append(all, notice{grave: held, key: "strip.type", with: []any{one.BusinessType, one.Author, one.Since}, Link: typePath(one.BusinessType), Note: one.Note})
	}
	return all
}

// absences are who does not answer. Without Temporal nothing is known of the workers.
func (p *picture) absences() []notice {
	switch {
	case p.Away[partPaused] && p.Temporal.IsZero():
		return []notice{{grave: engineAway, key: "strip.engine.never", Link: healthPath}}
	case p.Away[partPaused]:
		return []notice{{grave: engineAway, key: "strip.engine", with: []any{p.Temporal}, Link: healthPath}}
	case p.Away[partWorkers]:
		return []notice{{grave: workersAway, key: "strip.workers", Link: healthPath}}
	default:
		return nil
	}
}

// late are the types whose timers should have been taken by a worker, and were not.
func (p *picture) late() (all []notice) {
	for _, businessType := range slices.Sorted(maps.Keys(p.Overdue)) {
		if s := p.Overdue[businessType]; !p.isHeld(businessType) {
			all = append(all, notice{grave: overdue, key: "strip.overdue", with: []any{businessType, s}, Link: list(typedAs(businessType)+" status:"+statusScheduled+" sort:due", "")})
		}
	}
	return all
}

// failures are the types whose timers have failed just now, or are tried again.
func (p *picture) failures() (all []notice) {
	for _, businessType := range slices.Sorted(maps.Keys(p.Failed)) {
		s := p.Failed[businessType]
		all = append(all, notice{grave: failing, key: "strip.failing", with: []any{businessType, s, s.Example.LastFailure.short()}, Link: list(typedAs(businessType)+" status:"+statusFailed+" ended:10m", "")})
	}
	for _, businessType := range slices.Sorted(maps.Keys(p.Open)) {
		s := p.Open[businessType]
		link := list(typedAs(businessType)+" status:"+statusDelivering, "")
		switch {
		case s.Example.WaitsFor == waitsForReceiver:
			all = append(all, notice{grave: streamless, key: "strip.receiver", with: []any{businessType, s}, Link: link})
		case s.Example.LastFailure != nil && !p.isHeld(businessType):
			all = append(all, notice{grave: failing, key: "strip.retrying", with: []any{businessType, s, s.Example.LastFailure.short()}, Link: link})
		}
	}
	return all
}

// holds are the types that their policies hold back.
func (p *picture) holds() (all []notice) {
	for _, one := range p.Policies {
		switch {
		case one.Paused:
			all = append(all, notice{grave: held, key: "strip.policy", with: []any{one.BusinessType, cmp.Or(one.PausedBy, "-"), one.PausedAt}, Link: typePath(one.BusinessType)})
		case one.pressedAt(p.At):
			all = append(all, notice{grave: held, key: "strip.pressure", with: []any{one.BusinessType, one.BackPressure.Until}, Link: typePath(one.BusinessType)})
		}
	}
	return all
}

// isHeld reports whether somebody or something holds the callbacks of a type back.
func (p *picture) isHeld(businessType string) bool {
	if p.everything() != nil || p.pausedType(businessType) != nil {
		return true
	}
	return slices.ContainsFunc(p.Policies, func(one Policy) bool {
		return one.BusinessType == businessType && (one.Paused || one.pressedAt(p.At))
	})
}

// overflows are the types of which more falls due than the limit lets through.
func (p *picture) overflows() (all []notice) {
	for _, businessType := range slices.Sorted(maps.Keys(p.Ahead)) {
		o := p.Ahead[businessType]
		perMinute := rate(o.Rate * time.Minute.Seconds())
		all = append(all, notice{
			grave: overflowing, key: "strip.ahead", with: []any{o.At, businessType, o.Due, perMinute, o.Lateness},
			Link: Root + "forecast?type=" + businessType,
		})
	}
	return all
}

// String is how many they are, as far as they were counted.
func (s *sample) String() string {
	if s.More {
		return strconv.Itoa(s.N) + "+"
	}
	return strconv.Itoa(s.N)
}
