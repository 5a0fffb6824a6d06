package oracle

import (
	"fmt"
	"time"
)

// delay is how late the first attempt of a revision was.
type delay struct {
	id   string
	late time.Duration
	// excess is the part that no fault explains.
	excess time.Duration
	// held reports whether a fault delayed it.
	held bool
}

// lateness finds timers that rang later than allowed.
func lateness(run Run, all timers) (found []Violation) {
	for _, d := range delaysOf(run, all) {
		limit, kind := run.Limits.Calm, "with nothing broken"
		if d.held {
			limit, kind = run.Limits.Recovery, "after the end of a fault"
		}
		if d.excess > limit {
			found = append(found, Violation{Lateness, d.id, fmt.Sprintf("rang %s late %s, more than %s", d.excess, kind, limit)})
		}
	}
	return found
}

func delaysOf(run Run, all timers) (delays []delay) {
	for _, t := range all {
		seen := map[int]bool{}
		for _, a := range t.arrivals {
			due, since := t.due(a.Revision)
			if seen[a.Revision] || due.IsZero() {
				continue
			}
			seen[a.Revision] = true
			if since.After(due) {
				due = since // a timer cannot ring before it is booked
			}
			delays = append(delays, run.delay(t.id, due, a.At))
		}
	}
	return delays
}

// delay counts from the end of the last fault with an effect between the due time and the ring.
func (run Run) delay(id string, due, rang time.Time) delay {
	d, from := delay{id: id, late: rang.Sub(due)}, due
	for _, f := range run.Faults {
		felt := Fault{From: f.From, To: f.To.Add(run.Limits.Recovery)}
		if felt.touches(due, rang) {
			d.held = true
			if f.To.After(from) {
				from = f.To
			}
		}
	}
	d.excess = max(rang.Sub(from), 0)
	return d
}

func stamp(t time.Time) string { return t.Format("15:04:05.000") }
