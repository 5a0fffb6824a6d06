package oracle

// loss finds timers that were acknowledged, not cancelled, and never taken by
// the receiver in the revision that was acknowledged last.
func loss(_ Run, all timers) (found []Violation) {
	for _, t := range all {
		last := t.acknowledged()
		if t.booked() && !t.cancellable() && !t.taken(last.Revision) {
			found = append(found, Violation{Loss, t.id, "acknowledged and never delivered"})
		}
	}
	return found
}
