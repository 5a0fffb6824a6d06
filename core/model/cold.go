package model

// coldRules returns the rules of a timer without a running worker.
func coldRules() Rules {
	cold := []Phase{Scheduled, Paused}
	return Rules{
		{
			Name: "a cold timer is cancelled", From: cold, On: []Event{Cancel},
			Then: func(s State, _ Event) (State, []Effect) { return end(s, Cancelled, false) },
		},
		{Name: "a cold timer is changed", From: cold, On: Changes(), When: asked, Then: change},
		{
			Name: "a worker preloads it", From: []Phase{Scheduled}, On: []Event{HandedOut},
			When: func(s State, _ Event) bool { return s.Kind == Preloaded && !s.Overdue && !s.Unpreloaded },
			Then: func(s State, _ Event) (State, []Effect) { s.Phase = Held; return s, nil },
		},
		{
			Name: "its rule is over", From: []Phase{Scheduled}, On: []Event{Due},
			When: func(s State, _ Event) bool { return s.Kind == Recurring && s.Series.Left == 0 && !s.Series.Extra },
			Then: func(s State, _ Event) (State, []Effect) { return end(s, Expired, false) },
		},
		{Name: "it rings", From: []Phase{Scheduled, Held}, On: []Event{Due}, Then: firstAttempt},
		{
			Name: "its attempts are left to the queue", From: []Phase{Scheduled, Held}, On: []Event{DueLimited},
			When: func(s State, _ Event) bool { return s.Kind != Recurring || s.Series.Left > 0 || s.Series.Extra },
			Then: func(s State, _ Event) (State, []Effect) {
				s.Phase, s.Overdue = Waiting, true
				return s, []Effect{show(s.Phase.Status())}
			},
		},
		{
			Name: "it wakes too late", From: cold, On: []Event{LatestPasses},
			When: func(s State, _ Event) bool { return !s.Endless && s.Kind != Recurring },
			Then: func(s State, _ Event) (State, []Effect) { return end(s, Expired, false) },
		},
	}
}

func firstAttempt(s State, _ Event) (State, []Effect) {
	s.Phase, s.Overdue = Attempting, true
	return s, []Effect{ring(1)}
}

// asked reports whether the model covers a change in a state. Changes that it leaves out do not
// happen.
func asked(s State, e Event) bool {
	paused := s.Phase == Paused
	switch {
	case s.Change != "":
		return false
	case e == Push:
		return s.Kind == Debounced && !paused
	case e == Resume:
		return paused
	case e == Pause:
		return !paused && !s.Series.Extra
	case e == Fire && s.Kind == Recurring:
		return !paused && !s.Series.Extra && s.Series.Interrupted == 0 && s.Series.Left > 0
	default:
		return true
	}
}

// change applies a change to a timer without a delivery.
func change(s State, e Event) (State, []Effect) {
	if s.Change, s.Cancelling = "", false; e == Move && s.Kind == Recurring {
		return s, []Effect{refuse, rearm}
	}
	s.Unpreloaded = false
	switch e {
	case Move:
		s.Overdue, s.Bounded = false, false
	case Push: // not postponed past its longest wait
		s.Overdue = s.Overdue && s.Bounded
		s.Endless, s.Bounded = false, s.Kind == Debounced
	case Fire:
		s = fire(s)
	case Pause:
		s.Phase = Paused
	case Resume:
		s.Phase = Scheduled
	default: // does not move the ring
	}
	return s, []Effect{rearm}
}

// fire makes a timer due now. A recurring one rings once more, and a due occurrence goes on
// after that.
func fire(s State) State {
	if s.Kind == Recurring {
		if s.Overdue {
			s.Series.Interrupted, s.Series.Rung = s.Series.Number, max(s.Series.Rung, s.Series.Number)
		}
		s.Series.Extra, s.Series.Number = true, s.Series.Rung+1
	}
	s.Phase, s.Overdue, s.Bounded = Scheduled, true, false
	return s
}
