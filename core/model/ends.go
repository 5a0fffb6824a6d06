package model

// endRules returns the rules of a timer that has ended.
func endRules() Rules {
	return Rules{
		{
			Name: "a call comes too late", From: []Phase{Delivered, Failed, Expired}, On: []Event{Cancel, Move, Fire, Pause},
			Then: func(s State, _ Event) (State, []Effect) { return s, []Effect{refuse} },
		},
		{
			Name: "a failed timer is tried again", From: []Phase{Failed}, On: []Event{Redeliver},
			Then: func(s State, _ Event) (State, []Effect) {
				s.Phase, s.Overdue, s.Endless, s.Attempt, s.PastLatest = Scheduled, true, true, 0, false
				s.Round++
				return s, []Effect{start}
			},
		},
	}
}

// finish ends a delivery, and with it the timer, unless an occurrence is left.
func finish(s State, how Phase) (State, []Effect) {
	series := s.Series
	last, shown := series.Left <= 1 && !series.Extra, s.Phase.Status() == Waiting.Status()
	if s.Kind != Recurring || last {
		return end(s, how, shown)
	}
	s.Phase, s.Attempt, s.PastLatest, s.Overdue = Scheduled, 0, false, false
	s.Series = following(series)
	s.Overdue = series.Extra && series.Interrupted != 0
	switch e := s.Change; {
	case s.Cancelling:
		return end(s, Cancelled, shown)
	case e != "":
		return change(s, e)
	default:
		return s, []Effect{rearm}
	}
}

// following returns the series after the end of the current occurrence.
func following(s Series) Series {
	s.Rung = max(s.Rung, s.Number)
	if s.Extra && s.Interrupted != 0 {
		s.Extra, s.Number, s.Interrupted = false, s.Interrupted, 0
		return s
	}
	if !s.Extra {
		s.Left--
	}
	s.Extra, s.Number = false, s.Rung+1
	return s
}

// expire ends a delivery whose latest time has passed.
func expire(s State) (State, []Effect) {
	if s.Kind == Recurring {
		return finish(s, Expired)
	}
	return end(s, Expired, true)
}

// end ends the timer. shown reports whether lists show that it was delivering.
func end(s State, how Phase, shown bool) (State, []Effect) {
	var effects []Effect
	if how != Cancelled && (s.Cancelling || s.Change != "") {
		effects = append(effects, refuse)
	}
	if shown || how == Expired {
		effects = append(effects, show(how.Status()))
	}
	s.Phase, s.Cancelling, s.Change = how, false, ""
	return s, append(effects, ending(how.Status()))
}
