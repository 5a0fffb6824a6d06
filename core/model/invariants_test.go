package model_test

import (
	"slices"

	"github.com/wakecall/wakecall/core/model"
	"github.com/wakecall/wakecall/core/timer"
)

// witness records the past steps, as far as the promises depend on them.
type witness struct {
	// due reports whether the current delivery is due.
	due bool
	// attempt is the number of its last call, and lost reports whether a worker died since.
	attempt int
	lost    bool
	// cancelled reports whether a cancel was requested and not refused.
	cancelled bool
	// shown is the status in lists.
	shown timer.Status
}

// after returns the witness after one more step.
func (w witness) after(e model.Event, step model.Step) witness {
	switch e {
	case model.Due, model.DueLimited:
		w.due = true
	case model.WorkerDies:
		w.lost = true
	case model.Cancel:
		w.cancelled = true
	default:
	}
	for _, effect := range step.Effects {
		switch effect.Name {
		case model.Ring, model.Retry:
			w.attempt, w.lost = effect.Attempt, false
		case model.Show:
			w.shown = effect.Status
		case model.Refuse:
			w.cancelled = false
		case model.Rearm, model.Start:
			w.shown = ""
		default:
		}
	}
	if has(step, model.Rearm) && step.To.Phase.Cold() || has(step, model.Start) {
		w.due, w.attempt, w.lost = false, 0, false
	}
	return w
}

func has(step model.Step, name string) bool {
	return slices.ContainsFunc(step.Effects, func(e model.Effect) bool { return e.Name == name })
}

func calls(step model.Step) bool { return has(step, model.Ring) || has(step, model.Retry) }

// broken returns the promises that a step breaks. before is the witness before the step.
func broken(before witness, from model.State, e model.Event, step model.Step) (names []string) {
	after := before.after(e, step)
	for name, holds := range map[string]bool{
		"a timer that has ended calls nobody": !from.Phase.Ended() || !calls(step),
		"only a failed timer begins anew":     !from.Phase.Ended() || step.To.Phase == from.Phase || from.Phase == model.Failed && e == model.Redeliver,
		"no call before the due time":         !calls(step) || after.due,
		"a call is made by the clock, or again after a death": !calls(step) ||
			slices.Contains([]model.Event{model.Due, model.WaitOver, model.WorkerDies}, e),
		"no call after a cancel": !before.cancelled || !calls(step),
		"only a delivery outweighs a cancel": !before.cancelled || !step.To.Phase.Ended() || step.To.Phase == model.Cancelled ||
			step.To.Phase == model.Delivered && has(step, model.Refuse),
		"a cancel ends what is not in flight":  e != model.Cancel || from.Phase.InFlight() || from.Phase.Ended() || step.To.Phase == model.Cancelled,
		"a paused timer rings for nobody":      from.Phase != model.Paused || step.To.Phase.Cold() || step.To.Phase.Ended(),
		"attempts are numbered from 1":         numbered(before, step),
		"a ladder has an end":                  step.To.Attempt <= model.Attempts,
		"one end, of the phase that it is":     endsOnce(from, step),
		"what is shown is so":                  shownRight(after, step.To),
		"only an attempt in flight holds back": step.To.Phase.InFlight() || !step.To.Cancelling && step.To.Change == "",
		"a rule rings no more than it says":    step.To.Series.Left >= 0 && step.To.Series.Left <= model.Occurrences,
		"what is refused changes nothing":      !has(step, model.Refuse) || from.Phase.InFlight() || same(from, step.To),
		"rounds and numbers never go back":     step.To.Round >= from.Round && step.To.Series.Rung >= from.Series.Rung,
	} {
		if !holds {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// numbered reports whether a call has the next number, or that of a call by a dead worker.
func numbered(before witness, step model.Step) bool {
	return !slices.ContainsFunc(step.Effects, func(e model.Effect) bool {
		return e.Attempt != 0 && e.Attempt != before.attempt+1 && (!before.lost && step.To.Phase != model.Attempting || e.Attempt != before.attempt)
	})
}

// endsOnce reports whether a step ends a timer at most once, and only an open one.
func endsOnce(from model.State, step model.Step) bool {
	var ends []model.Effect
	for _, effect := range step.Effects {
		if effect.Name == model.End {
			ends = append(ends, effect)
		}
	}
	if from.Phase.Ended() || !step.To.Phase.Ended() {
		return len(ends) == 0
	}
	return len(ends) == 1 && step.Effects[len(step.Effects)-1] == ends[0] && ends[0].Status == step.To.Phase.Status()
}

// shownRight reports whether lists show the true status of a timer, as far as Temporal knows it.
func shownRight(w witness, s model.State) bool {
	switch status := s.Phase.Status(); status {
	case timer.Scheduled, timer.Paused:
		return w.shown == ""
	case timer.Delivering, timer.Expired:
		return w.shown == status
	default:
		return w.shown == "" || w.shown == status
	}
}

// same reports whether two states are the same timer, held or not.
func same(a, b model.State) bool {
	a.Phase, b.Phase = "", ""
	return a == b
}
