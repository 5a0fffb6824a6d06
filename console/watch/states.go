package watch

import (
	"cmp"
	"slices"

	"github.com/wakecall/wakecall/console/calls"
)

// State is a state of a business type, as the catalogues name it, or one of the whole installation.
type State string

// The states of a business type. Emergency is a pause at once, Paused one by the policy, and Pressed one that the
// receiver asked for.
const (
	Emergency   State = "emergency"
	Overdue     State = "overdue"
	Failing     State = "failing"
	Paused      State = "paused"
	Pressed     State = "held"
	Streamless  State = "streamless"
	Overflowing State = "overflowing"
	Running     State = "running"
)

// The states of the installation.
const (
	everything  State = "everything"
	engineAway  State = "engine"
	workersAway State = "workers"
	unseen      State = "unseen"
)

// gravestFirst is the order of the strip and of the tables of types. What concerns all types comes first: pauses of
// single types hide none of it.
var gravestFirst = []State{
	everything, engineAway, workersAway, Emergency, Overdue, Failing, Paused, Pressed, Streamless, Overflowing, Running, unseen,
}

// Compare is negative if a state is graver than another one.
func (s State) Compare(other State) int {
	return cmp.Compare(slices.Index(gravestFirst, s), slices.Index(gravestFirst, other))
}

// Holds reports whether callbacks are held back in the state.
func (s State) Holds() bool { return s == Emergency || s == Paused || s == Pressed }

// States are the states of a business type, gravest first. A type in no other one is [Running].
func (p *Picture) States(of calls.Policy) (all []State) {
	businessType := of.BusinessType
	held := p.IsHeld(businessType)
	_, overflows := p.Ahead[businessType]
	for _, one := range []struct {
		State
		isIn bool
	}{
		{Emergency, p.Everything() != nil || p.PausedType(businessType) != nil},
		{Overdue, p.Overdue[businessType] != nil && !held},
		{Failing, p.Failing(businessType)},
		{Paused, of.Paused},
		{Pressed, of.PressedAt(p.At)},
		{Streamless, p.Unreceived(businessType) != nil},
		{Overflowing, overflows},
	} {
		if one.isIn {
			all = append(all, one.State)
		}
	}
	if all == nil {
		return []State{Running}
	}
	slices.SortFunc(all, State.Compare)
	return all
}
