package oracle

import "fmt"

// phantoms finds unwanted callbacks: for timers that were never booked, and for cancelled ones.
func phantoms(run Run, all timers) (found []Violation) {
	for _, t := range all {
		if len(t.arrivals) > 0 && !t.bookable() {
			found = append(found, Violation{Phantoms, t.id, "rang and was never booked"})
		}
		for _, cancel := range t.callsOf(Cancel, OK) {
			found = append(found, t.after(run, cancel)...)
		}
	}
	return found
}

// after finds attempts that an acknowledged cancel must have prevented. A pending cancel
// prevents later attempts; one in effect also excludes an earlier delivery.
func (t *timer) after(run Run, cancel Call) (found []Violation) {
	for _, a := range t.arrivals {
		switch {
		case a.At.After(cancel.Answered.Add(transit)):
			found = append(found, Violation{Phantoms, t.id, fmt.Sprintf("rang %s after its cancel was acknowledged", a.At.Sub(cancel.Answered))})
		case a.taken() && !cancel.Pending && !run.inFlight(a):
			found = append(found, Violation{Phantoms, t.id, "was delivered and then acknowledged as cancelled"})
		}
	}
	return found
}
