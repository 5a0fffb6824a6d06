package oracle

import "fmt"

// revisions finds attempts of a revision that a later, acknowledged one had replaced. Rule
// [Loss] covers the later one's ring.
func revisions(run Run, all timers) (found []Violation) {
	for _, t := range all {
		for _, change := range t.callsOf(Change, OK) {
			for _, a := range t.arrivals {
				found = append(found, t.outdated(run, change, a)...)
			}
		}
	}
	return found
}

// outdated judges one arrival by one change. A pending change makes the revision after the
// shown one, before any later callback.
func (t *timer) outdated(run Run, change Call, a Arrival) []Violation {
	lowest := change.Revision
	if change.Pending {
		lowest++
	}
	switch {
	case a.Revision >= lowest:
	case a.At.After(change.Answered.Add(transit)):
		return []Violation{{Revisions, t.id, fmt.Sprintf("revision %d rang %s after revision %d was acknowledged",
			a.Revision, a.At.Sub(change.Answered), lowest)}}
	case !change.Pending && a.taken() && !run.inFlight(a):
		return []Violation{{Revisions, t.id, fmt.Sprintf("revision %d was delivered and then replaced", a.Revision)}}
	}
	return nil
}
