package model

import "slices"

// Edge is one step of a walk.
type Edge struct {
	From State
	On   Event
	Step
	// Path is a shortest sequence of events from a booking to From.
	Path []Event
}

// Walk visits all sequences of at most depth events breadth-first, from a booking of each kind.
// It lists each edge once, with a shortest path to it, in a fixed order.
func (r Rules) Walk(depth int) (edges []Edge) {
	type stop struct {
		State
		path []Event
	}
	var border []stop
	seen := map[State]bool{}
	for _, kind := range Kinds() {
		border = append(border, stop{State: Booked(kind)})
		seen[Booked(kind)] = true
	}
	for range depth {
		var next []stop
		for _, at := range border {
			for _, e := range Events() {
				step, ok := r.Next(at.State, e)
				if !ok {
					continue
				}
				edges = append(edges, Edge{From: at.State, On: e, Step: step, Path: at.path})
				if !seen[step.To] {
					seen[step.To] = true
					next = append(next, stop{State: step.To, path: append(slices.Clone(at.path), e)})
				}
			}
		}
		border = next
	}
	return edges
}
