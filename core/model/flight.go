package model

// flightRules returns the rules of an attempt in flight. Calls of a client wait for its answer.
func flightRules() Rules {
	flight := []Phase{Attempting, Retrying}
	return Rules{
		{
			Name: "a cancel waits for the answer", From: flight, On: []Event{Cancel},
			When: func(s State, _ Event) bool { return !s.Cancelling },
			Then: func(s State, _ Event) (State, []Effect) { s.Cancelling = true; return s, nil },
		},
		{
			Name: "a change waits for the answer", From: flight, On: Changes(),
			When: func(s State, e Event) bool { return !s.Cancelling && asked(s, e) },
			Then: func(s State, e Event) (State, []Effect) { s.Change = e; return s, nil },
		},
		{
			Name: "the latest time waits for the answer", From: []Phase{Retrying}, On: []Event{LatestPasses},
			When: func(s State, _ Event) bool { return canLapse(s) && !s.Cancelling && s.Change == "" },
			Then: func(s State, _ Event) (State, []Effect) { s.PastLatest = true; return s, nil },
		},
		{
			Name: "the receiver took it", From: flight, On: []Event{OK},
			Then: func(s State, _ Event) (State, []Effect) { return finish(s, Delivered) },
		},
		{
			Name: "the receiver ends the series", From: flight, On: []Event{EndSeries},
			When: func(s State, _ Event) bool {
				return s.Kind == Recurring && !s.Series.Extra && s.Series.Interrupted == 0 && !s.Cancelling && s.Change == ""
			},
			Then: func(s State, _ Event) (State, []Effect) { s.Series.Left = 1; return finish(s, Delivered) },
		},
		{
			Name: "the receiver wants no more attempts", From: flight, On: []Event{Gone},
			Then: fail,
		},
		{
			Name: "the receiver accepts it", From: flight, On: []Event{Accept},
			When: func(s State, _ Event) bool { return s.Kind == Acknowledged && !s.PastLatest },
			Then: accept,
		},
		{
			Name: "the ladder is used up", From: flight, On: []Event{Error, Busy},
			When: func(s State, _ Event) bool { return s.Attempt+1 >= Attempts },
			Then: fail,
		},
		{Name: "the attempt failed, and another one follows", From: flight, On: []Event{Error, Busy}, Then: failAttempt},
	}
}

func canLapse(s State) bool { return !s.Endless && !s.PastLatest }

// fail ends a delivery without success. A waiting cancel or change precedes a later attempt. An
// edit leaves the result as it is.
func fail(s State, _ Event) (State, []Effect) {
	e := s.Change
	s.Attempt++
	switch {
	case !s.Cancelling && e == "":
		return finish(s, Failed)
	case s.Cancelling || e != Edit && (e != Move || s.Kind != Recurring):
		return interrupt(delivering(s, Waiting))
	}
	s.Change, s.PastLatest = "", false
	s, effects := resume(delivering(s, Waiting), e)
	to, ends := finish(s, Failed)
	return to, append(effects, ends...)
}

// failAttempt records an attempt that failed before the ladder was used up.
func failAttempt(s State, _ Event) (State, []Effect) {
	s.Attempt++
	to, effects := interrupt(delivering(s, Waiting))
	return to, append(begun(s), effects...)
}

// accept records an accepted attempt. A later attempt is not remembered if a cancel or a change
// waits.
func accept(s State, _ Event) (State, []Effect) {
	s.Attempt++
	shown := begun(s)
	if s.Phase == Attempting || !s.Cancelling && s.Change == "" {
		shown = append(shown, remember)
	}
	to, effects := interrupt(delivering(s, Accepted))
	return to, append(shown, effects...)
}

// begun returns the effects of a first attempt of a run that has not delivered.
func begun(s State) []Effect {
	if s.Phase == Attempting {
		return []Effect{show(Waiting.Status())}
	}
	return nil
}

func delivering(s State, phase Phase) State {
	s.Phase = phase
	return s
}

// interrupt applies a cancel or a change that waited for the end of an attempt. A cancel
// outweighs a change.
func interrupt(s State) (State, []Effect) {
	switch e := s.Change; {
	case s.Cancelling:
		return end(s, Cancelled, true)
	case e != "":
		s.Change = ""
		return divert(s, e)
	case s.PastLatest && s.Phase == Waiting:
		return expire(s)
	default:
		return s, nil
	}
}
