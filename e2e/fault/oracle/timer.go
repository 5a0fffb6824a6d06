package oracle

import (
	"iter"
	"slices"
	"time"
)

// transit is the longest time of a request between its worker and the receiver's stamp, on
// one busy machine.
const transit = 250 * time.Millisecond

// timer holds both logs of one business id. An id is booked once in a run.
type timer struct {
	id       string
	calls    []Call
	arrivals []Arrival
}

// timers are in the order of their ids.
type timers []*timer

func timersOf(run Run) timers {
	byID := map[string]*timer{}
	of := func(id string) *timer {
		if byID[id] == nil {
			byID[id] = &timer{id: id}
		}
		return byID[id]
	}
	for _, call := range run.Calls {
		t := of(call.ID)
		t.calls = append(t.calls, call)
	}
	for _, arrival := range run.Arrivals {
		t := of(arrival.ID)
		t.arrivals = append(t.arrivals, arrival)
	}
	all := timers{}
	for _, t := range byID {
		slices.SortStableFunc(t.calls, func(a, b Call) int { return a.Answered.Compare(b.Answered) })
		slices.SortStableFunc(t.arrivals, func(a, b Arrival) int { return a.At.Compare(b.At) })
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *timer) int { return compare(a.id, b.id) })
	return all
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// callsOf returns the calls of one kind with one of the given outcomes.
func (t *timer) callsOf(op Op, outcomes ...Outcome) (found []Call) {
	for _, call := range t.calls {
		if call.Op == op && slices.Contains(outcomes, call.Outcome) {
			found = append(found, call)
		}
	}
	return found
}

// booked reports whether an add was acknowledged.
func (t *timer) booked() bool { return len(t.callsOf(Add, OK)) > 0 }

// bookable reports whether an add may have happened.
func (t *timer) bookable() bool { return len(t.callsOf(Add, OK, Unknown)) > 0 }

// cancellable reports whether a cancel may have happened.
func (t *timer) cancellable() bool { return len(t.callsOf(Cancel, OK, Unknown)) > 0 }

// taken reports whether the receiver took a delivery of at least a revision.
func (t *timer) taken(revision int) bool {
	return slices.ContainsFunc(t.arrivals, func(a Arrival) bool { return a.taken() && a.Revision >= revision })
}

// acknowledged is the call with the highest revision acknowledged as in effect.
func (t *timer) acknowledged() (last Call) {
	for _, call := range append(t.callsOf(Add, OK), t.callsOf(Change, OK)...) {
		if call.Revision >= last.Revision {
			last = call
		}
	}
	return last
}

// due is when a revision is due at the earliest, and since when that is known.
func (t *timer) due(revision int) (due, since time.Time) {
	open := []Call{}
	for _, call := range append(t.callsOf(Add, OK, Unknown), t.callsOf(Change, OK, Unknown)...) {
		if call.Outcome == OK && call.Revision == revision && !call.Pending {
			return call.Due, call.Sent
		}
		if call.Outcome == Unknown || call.Pending {
			open = append(open, call)
		}
	}
	for _, call := range open {
		if due.IsZero() || call.Due.Before(due) {
			due, since = call.Due, call.Sent
		}
	}
	return due, since
}

// repeat is an unwanted arrival: its predecessor was taken, or had the same number.
type repeat struct{ before, again Arrival }

func (t *timer) duplicates() iter.Seq[repeat] {
	return func(yield func(repeat) bool) {
		for i := 1; i < len(t.arrivals); i++ {
			a, b := t.arrivals[i-1], t.arrivals[i]
			if t.next(a, b) {
				continue
			}
			if !yield(repeat{a, b}) {
				return
			}
		}
	}
}

// next reports whether an arrival regularly follows another: a retry of a refused attempt,
// or the first attempt after a change.
func (t *timer) next(a, b Arrival) bool {
	return !a.taken() && (b.Attempt > a.Attempt || b.Revision > a.Revision)
}

// inFlight reports whether an attempt was not recorded yet at a crash, or was the first act
// of a thawed process.
func (run Run) inFlight(a Arrival) bool {
	ended := a.Answered
	if ended.Before(a.At) {
		ended = a.At
	}
	return slices.ContainsFunc(run.Faults, func(f Fault) bool {
		if f.To = f.To.Add(run.Limits.Settle); f.Stood {
			f.To = f.From.Add(transit)
		}
		return f.Crash && f.touches(a.At, ended.Add(run.Limits.Settle))
	})
}
