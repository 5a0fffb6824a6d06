package model

// deathRules returns the rules of a worker that dies during an attempt. It is unknown whether
// the receiver was called.
func deathRules() Rules {
	first, later := []Phase{Attempting}, []Phase{Retrying}
	return Rules{
		{
			Name: "a cancel comes before the attempt is made again", From: first, On: []Event{WorkerDies},
			When: func(s State, _ Event) bool { return s.Cancelling },
			Then: func(s State, _ Event) (State, []Effect) { return end(s, Cancelled, false) },
		},
		{
			Name: "a change comes before the attempt is made again", From: first, On: []Event{WorkerDies},
			When: func(s State, _ Event) bool { return s.Change != "" },
			Then: func(s State, _ Event) (State, []Effect) {
				s.Phase = Scheduled
				return change(s, s.Change)
			},
		},
		{Name: "another worker makes the first attempt again", From: first, On: []Event{WorkerDies}, Then: firstAttempt},
		{
			Name: "the server has a later attempt made again", From: later, On: []Event{WorkerDies},
			Then: func(s State, _ Event) (State, []Effect) { return interrupt(delivering(s, Waiting)) },
		},
	}
}
