package fault

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// The baseline of the faults: the same load without a fault.
func TestNothingBroken(t *testing.T) {
	longOnly(t)
	for name, test := range map[string]struct {
		plan  load.Plan
		bench func(*testing.T) *bench
	}{
		"standalone": {busy(750), func(t *testing.T) *bench { return newStandalone(t).bench }},
		"roles":      {busy(750), func(t *testing.T) *bench { return newProduction(t, roles, process.Direct).bench }},
		"node":       {busy(750), func(t *testing.T) *bench { return newProduction(t, node, process.Direct).bench }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, summary := test.bench(t).run(trial{fault: "nothing broken, " + name, plan: test.plan, strike: func(*load.Load) {}})
			require.Zero(t, summary.Duplicates, "nothing crashed")
		})
	}
}
