package oracle

import "fmt"

// duplicates finds two kinds of faults: repeats of attempts that were not in flight at a
// crash, and arrivals of one timer that differ where they must not.
func duplicates(run Run, all timers) (found []Violation) {
	for _, t := range all {
		for d := range t.duplicates() {
			if !run.inFlight(d.before) {
				found = append(found, Violation{Duplicates, t.id, fmt.Sprintf(
					"attempt %d came at %s although attempt %d was answered %d at %s",
					d.again.Attempt, stamp(d.again.At), d.before.Attempt, d.before.Status, stamp(d.before.Answered))})
			}
		}
		found = append(found, t.differences()...)
	}
	return found
}

// differences finds a second webhook-id, or a second body of one revision.
func (t *timer) differences() (found []Violation) {
	id, bodies := t.acknowledged().WebhookID, map[int]string{}
	for _, a := range t.arrivals {
		if id == "" {
			id = a.WebhookID
		}
		if bodies[a.Revision] == "" {
			bodies[a.Revision] = a.Body
		}
		if a.WebhookID != id {
			found = append(found, Violation{Duplicates, t.id, "webhook-id is " + a.WebhookID + ", not " + id})
		}
		if a.Body != bodies[a.Revision] {
			found = append(found, Violation{Duplicates, t.id, fmt.Sprintf("revision %d has two bodies", a.Revision)})
		}
	}
	return found
}
