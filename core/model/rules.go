package model

import "slices"

// Decision is one rule: the result of an event in a phase.
type Decision struct {
	// Name describes the decision. It is unique.
	Name string
	From []Phase
	On   []Event
	// When narrows the states; nil for the whole phase.
	When func(State, Event) bool
	Then func(State, Event) (State, []Effect)
}

// Rules are the decisions of a model. The first that fits applies.
type Rules []Decision

// All returns the rules of the product.
func All() Rules {
	return slices.Concat(coldRules(), heldRules(), flightRules(), deathRules(), waitingRules(), acceptedRules(), endRules())
}

func (d Decision) fits(s State, e Event) bool {
	return slices.Contains(d.From, s.Phase) && slices.Contains(d.On, e) && (d.When == nil || d.When(s, e))
}

// Step is the result of one event.
type Step struct {
	To       State
	Effects  []Effect
	Decision string
}

// Next returns the result of an event; ok is false if it cannot happen in the state.
func (r Rules) Next(s State, e Event) (_ Step, ok bool) {
	for _, d := range r {
		if d.fits(s, e) {
			to, effects := d.Then(s, e)
			return Step{To: to, Effects: effects, Decision: d.Name}, true
		}
	}
	return Step{}, false
}
