package model_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/model"
)

// depth is the largest number of events in a sequence of the walk.
const depth = 7

// trip is the outcome of a walk with a witness.
type trip struct {
	states, edges int
	decisions     map[string]int
	// faults are the broken promises, each with the shortest sequence to it.
	faults map[string]string
}

// travel walks through all sequences, and checks the promises at each step.
func travel(rules model.Rules, depth int) trip {
	type stop struct {
		state model.State
		witness
	}
	t := trip{decisions: map[string]int{}, faults: map[string]string{}}
	border, seen := map[stop][]model.Event{}, map[stop]bool{}
	for _, kind := range model.Kinds() {
		border[stop{state: model.Booked(kind)}] = nil
	}
	maps.Copy(seen, mark(border))
	for range depth {
		next := map[stop][]model.Event{}
		for at, path := range border {
			for _, e := range model.Events() {
				step, ok := rules.Next(at.state, e)
				if !ok {
					continue
				}
				t.edges++
				t.decisions[step.Decision]++
				for _, name := range broken(at.witness, at.state, e, step) {
					t.faults[name] = fmt.Sprintf("%s: %v, then %s: %s", at.state.Kind, path, e, step.Decision)
				}
				to := stop{step.To, at.after(e, step)}
				if !seen[to] {
					seen[to] = true
					next[to] = append(slices.Clone(path), e)
				}
			}
		}
		border = next
	}
	t.states = len(seen)
	return t
}

func mark[K comparable, V any](of map[K]V) map[K]bool {
	marked := map[K]bool{}
	for key := range of {
		marked[key] = true
	}
	return marked
}

// Every short sequence of events keeps every promise. The numbers change with the rules:
// understand the change before you write new ones.
func TestEveryShortLifeKeepsThePromises(t *testing.T) {
	t.Parallel()
	walked := travel(model.All(), depth)
	require.Empty(t, walked.faults)
	require.Equal(t, []int{2314, 8484}, []int{walked.states, walked.edges}, "states and edges")
	for _, d := range model.All() {
		require.NotZero(t, walked.decisions[d.Name], "%s is never decided", d.Name)
	}
}

// Every rule has a unique name, and applies to some state.
func TestDecisionsAreNamed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, d := range model.All() {
		require.NotEmpty(t, d.Name)
		require.False(t, names[d.Name], d.Name)
		names[d.Name] = true
	}
	require.Greater(t, len(names), 30)
}

// A walk lists each edge once, and its path leads to it.
func TestTheWalkListsPaths(t *testing.T) {
	t.Parallel()
	rules := model.All()
	seen := map[string]bool{}
	for _, edge := range rules.Walk(5) {
		at := model.Booked(edge.From.Kind)
		for _, e := range edge.Path {
			step, ok := rules.Next(at, e)
			require.True(t, ok)
			at = step.To
		}
		require.Equal(t, edge.From, at)
		key := fmt.Sprint(edge.From, edge.On)
		require.False(t, seen[key], key)
		seen[key] = true
	}
	require.Greater(t, len(seen), 500)
}
