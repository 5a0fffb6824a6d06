package workflows_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/model"
	"github.com/wakecall/wakecall/internal/detector"
)

// played is the most events on the way to a played edge. One more doubles the number of
// sequences, and finds no other decision.
const played = 6

// sequence plays the events that lead to an edge, the edge, and the shortest end that leaves
// no run open.
func sequence(t *testing.T, edge model.Edge) *play {
	t.Helper()
	script := append(slices.Clone(edge.Path), edge.On)
	return newPlay(t, edge.From.Kind, append(script, closing(edge.To)...))
}

// closing is the shortest sequence to a state in which nothing runs.
func closing(state model.State) []model.Event {
	type stop struct {
		model.State
		path []model.Event
	}
	seen := map[model.State]bool{}
	for border := []stop{{State: state}}; len(border) > 0; border = border[1:] {
		at := border[0]
		if at.Phase.Cold() || at.Phase.Ended() {
			return at.path
		}
		for _, e := range model.Events() {
			if step, ok := model.All().Next(at.State, e); ok && !seen[step.To] {
				seen[step.To] = true
				border = append(border, stop{step.To, append(slices.Clone(at.path), e)})
			}
		}
	}
	return nil
}

// edges are the edges that a workflow can show: an ended timer has no run left.
func edges() []model.Edge {
	return slices.DeleteFunc(model.All().Walk(played), func(edge model.Edge) bool {
		return edge.From.Phase.Ended() && edge.On != model.Redeliver
	})
}

// On every edge of the walk the workflow follows the model: it calls the receiver, ends its
// runs, shows and remembers the same, in the same order, and hands the same on.
func TestTheWorkflowFollowsTheModel(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	decisions := map[string]bool{}
	for _, edge := range edges() {
		p := sequence(t, edge)
		p.run()
		require.Empty(t, p.faults, "%s: %v, then %s", edge.From.Kind, edge.Path, edge.On)
		decisions[edge.Decision] = true
	}
	for _, d := range model.All() {
		require.True(t, decisions[d.Name] || d.Name == "a call comes too late", "%s is never played", d.Name)
	}
}

// The control: a receiver that answers differently from the model, and a model that lacks a
// rule, are found.
func TestWhatDiffersFromTheModelIsFound(t *testing.T) {
	t.Parallel()
	swapped := map[model.Event]model.Event{model.OK: model.Gone, model.Gone: model.OK, model.Error: model.OK, model.Accept: model.Error}
	found := map[model.Event]bool{}
	for _, edge := range edges() {
		if _, answers := swapped[edge.On]; !answers || len(edge.Path) > 2 {
			continue
		}
		p := sequence(t, edge)
		p.wrong = func(e model.Event) model.Event {
			if len(p.script) > len(closing(edge.To)) || swapped[e] == "" {
				return e
			}
			return swapped[e]
		}
		p.run()
		found[edge.On] = found[edge.On] || len(p.faults) > 0
	}
	for e := range swapped {
		require.True(t, found[e], "an answer other than %s", e)
	}
	p := newPlay(t, model.OneShot, []model.Event{model.Due, model.Error, model.Move})
	p.rules = slices.DeleteFunc(model.All(), func(d model.Decision) bool { return d.Name == "a delivery is changed" })
	p.run()
	require.Contains(t, fmt.Sprint(p.faults), "the model has no move")
}
