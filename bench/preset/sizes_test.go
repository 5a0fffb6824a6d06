package preset

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/report"
)

func TestFullRunHasWhatTheTargetsCompare(t *testing.T) {
	t.Parallel()
	var scenarios []string
	for _, plan := range full.plans() {
		scenarios = append(scenarios, plan.Name)
	}
	for _, target := range report.Targets() {
		require.Contains(t, scenarios, target.Own.Scenario)
		require.Contains(t, full.subjects, target.Own.Subject)
		if target.Beside != (report.Cell{}) {
			require.Contains(t, scenarios, target.Beside.Scenario)
			require.Contains(t, full.subjects, target.Beside.Subject)
		}
	}
}
