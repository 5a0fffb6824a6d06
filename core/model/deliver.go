package model

// waitingRules returns the rules of a delivery whose next attempt waits.
func waitingRules() Rules {
	waiting := []Phase{Waiting}
	return Rules{
		{
			Name: "the next attempt", From: waiting, On: []Event{WaitOver},
			Then: func(s State, _ Event) (State, []Effect) {
				s.Phase = Retrying
				return s, []Effect{retry(s.Attempt + 1)}
			},
		},
		{
			Name: "the latest time has passed", From: waiting, On: []Event{LatestPasses},
			When: func(s State, _ Event) bool { return canLapse(s) },
			Then: func(s State, _ Event) (State, []Effect) { return expire(s) },
		},
		{
			Name: "a delivery is cancelled", From: []Phase{Waiting, Accepted}, On: []Event{Cancel},
			Then: func(s State, _ Event) (State, []Effect) { return end(s, Cancelled, true) },
		},
		{Name: "a delivery is changed", From: []Phase{Waiting, Accepted}, On: Changes(), When: asked, Then: divert},
	}
}

// acceptedRules returns the rules of an attempt that awaits its acknowledgement.
func acceptedRules() Rules {
	accepted := []Phase{Accepted}
	return Rules{
		{
			Name: "the receiver acknowledges", From: accepted, On: []Event{Ack},
			Then: func(s State, _ Event) (State, []Effect) {
				to, effects := end(s, Delivered, true)
				return to, append([]Effect{remember}, effects...)
			},
		},
		{
			Name: "the last attempt is not acknowledged", From: accepted, On: []Event{Nack, AckOver},
			When: func(s State, _ Event) bool { return s.Attempt >= Attempts },
			Then: func(s State, _ Event) (State, []Effect) {
				to, effects := end(s, Failed, true)
				return to, append([]Effect{remember}, effects...)
			},
		},
		{
			Name: "an attempt is not acknowledged", From: accepted, On: []Event{Nack, AckOver},
			Then: func(s State, _ Event) (State, []Effect) {
				to, effects := interrupt(delivering(s, Waiting))
				return to, append([]Effect{remember}, effects...)
			},
		},
		{
			Name: "the latest time waits for the receiver", From: accepted, On: []Event{LatestPasses},
			When: func(s State, _ Event) bool { return canLapse(s) },
			Then: func(s State, _ Event) (State, []Effect) { s.PastLatest = true; return s, nil },
		},
	}
}

// divert applies a change to a delivery in progress. A refused change, and one that does not
// move the ring, leave the delivery as it is.
func divert(s State, e Event) (State, []Effect) {
	if e == Edit || e == Move && s.Kind == Recurring {
		return resume(s, e)
	}
	if e == Pause && s.Kind == Recurring {
		s = giveUp(s)
	}
	if e == Push { // a new wait begins
		s.Bounded = false
	}
	s.Phase, s.Attempt, s.PastLatest = Scheduled, 0, false
	s.Round++
	return change(s, e)
}

// resume continues the same delivery in another run. A delivery without an attempt begins again.
func resume(s State, e Event) (State, []Effect) {
	if s.Attempt == 0 {
		s.Phase, s.PastLatest = Scheduled, false
		return change(s, e)
	}
	effects := []Effect{rearm, show(s.Phase.Status())}
	if e == Move {
		effects = append([]Effect{refuse}, effects...)
	}
	if s.Phase == Accepted {
		effects = append(effects, remember)
	}
	if s.PastLatest && s.Phase == Waiting {
		to, ends := expire(s)
		return to, append(effects, ends...)
	}
	return s, effects
}

// giveUp ends an occurrence whose delivery a pause has ended. Its number is used up.
func giveUp(s State) State {
	s.Series.Rung = max(s.Series.Rung, s.Series.Number)
	s.Series.Number = s.Series.Rung + 1
	s.Series.Left--
	s.Overdue = false
	return s
}
