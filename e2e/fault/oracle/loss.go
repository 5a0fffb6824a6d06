package oracle

// loss finds acknowledged timers that were not cancelled, and whose last acknowledged
// revision the receiver never took.
func loss(_ Run, all timers) (found []Violation) {
	for _, t := range all {
		last := t.acknowledged()
		if t.booked() && !t.cancellable() && !t.taken(last.Revision) {
			found = append(found, Violation{Loss, t.id, "acknowledged and never delivered"})
		}
	}
	return found
}
