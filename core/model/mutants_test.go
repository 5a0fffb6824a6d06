package model_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/model"
)

// mutant returns the model with one wrong decision.
func mutant(t *testing.T, name string, wrong func(model.State, model.Event) (model.State, []model.Effect)) model.Rules {
	t.Helper()
	rules := model.All()
	i := slices.IndexFunc(rules, func(d model.Decision) bool { return d.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	rules[i].Then = wrong
	return rules
}

// The control: a walk of a model with a wrong edge names the broken promise.
func TestWrongEdgesAreFound(t *testing.T) {
	t.Parallel()
	to := func(phase model.Phase, effects ...model.Effect) func(model.State, model.Event) (model.State, []model.Effect) {
		return func(s model.State, _ model.Event) (model.State, []model.Effect) {
			s.Phase = phase
			return s, effects
		}
	}
	ring := model.Effect{Name: model.Ring, Attempt: 1}
	for _, c := range []struct {
		decision string
		wrong    func(model.State, model.Event) (model.State, []model.Effect)
		promise  string
	}{
		{"a call comes too late", to(model.Attempting, ring), "a timer that has ended calls nobody"},
		{"a call comes too late", to(model.Scheduled), "only a failed timer begins anew"},
		{"a worker preloads it", to(model.Attempting, ring), "no call before the due time"},
		{"a held timer is changed", to(model.Attempting, ring), "a call is made by the clock, or again after a death"},
		{"a cancel comes before the attempt is made again", to(model.Attempting, ring), "no call after a cancel"},
		{"a cancel comes before the attempt is made again", to(model.Delivered), "only a delivery outweighs a cancel"},
		{"the receiver wants no more attempts", to(model.Failed, model.Effect{Name: model.Refuse}), "only a delivery outweighs a cancel"},
		{"a cold timer is cancelled", to(model.Scheduled), "a cancel ends what is not in flight"},
		{"a cold timer is cancelled", to(model.Waiting), "a paused timer rings for nobody"},
		{"the next attempt", to(model.Retrying, model.Effect{Name: model.Retry, Attempt: 1}), "attempts are numbered from 1"},
		{"the ladder is used up", func(s model.State, _ model.Event) (model.State, []model.Effect) {
			s.Phase, s.Attempt = model.Waiting, s.Attempt+2
			return s, nil
		}, "a ladder has an end"},
		{"the receiver took it", to(model.Delivered), "one end, of the phase that it is"},
		{"it wakes too late", to(model.Expired, model.Effect{Name: model.End, Status: model.Expired.Status()}), "what is shown is so"},
		{"a change comes before the attempt is made again", to(model.Scheduled), "only an attempt in flight holds back"},
		{"the receiver took it", func(s model.State, _ model.Event) (model.State, []model.Effect) {
			s.Phase, s.Series.Left = model.Scheduled, s.Series.Left+1
			return s, []model.Effect{{Name: model.Rearm}}
		}, "a rule rings no more than it says"},
		{"a call comes too late", func(s model.State, _ model.Event) (model.State, []model.Effect) {
			s.Round++
			return s, []model.Effect{{Name: model.Refuse}}
		}, "what is refused changes nothing"},
		{"a failed timer is tried again", func(s model.State, _ model.Event) (model.State, []model.Effect) {
			s.Phase, s.Round = model.Scheduled, s.Round-1
			return s, []model.Effect{{Name: model.Start}}
		}, "rounds and numbers never go back"},
	} {
		walked := travel(mutant(t, c.decision, c.wrong), depth-2)
		require.Contains(t, walked.faults, c.promise, c.decision)
	}
	lost := slices.DeleteFunc(model.All(), func(d model.Decision) bool { return d.Name == "its rule is over" })
	require.NotContains(t, travel(lost, depth-2).decisions, "its rule is over", "a decision that is never taken is seen")
}
