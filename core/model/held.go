package model

// heldRules returns the rules of a preloaded timer.
func heldRules() Rules {
	held := []Phase{Held}
	release := func(unpreloaded bool) func(State, Event) (State, []Effect) {
		return func(s State, _ Event) (State, []Effect) {
			s.Phase, s.Unpreloaded = Scheduled, unpreloaded
			return s, []Effect{rearm}
		}
	}
	return Rules{
		{
			Name: "a held timer is cancelled", From: held, On: []Event{Cancel},
			Then: func(s State, _ Event) (State, []Effect) { return end(s, Cancelled, false) },
		},
		{
			Name: "a held timer is changed", From: held, On: Changes(), When: asked,
			Then: func(s State, e Event) (State, []Effect) { s.Phase = Scheduled; return change(s, e) },
		},
		{Name: "its worker stops and hands it back", From: held, On: []Event{WorkerStops}, Then: release(false)},
		{Name: "its worker has no room for it", From: held, On: []Event{NoRoom}, Then: release(true)},
		{
			Name: "another worker holds it", From: held, On: []Event{WorkerDies},
			Then: func(s State, _ Event) (State, []Effect) { return s, nil },
		},
	}
}
