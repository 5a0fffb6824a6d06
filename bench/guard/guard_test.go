package guard_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/guard"
)

func baseline() guard.Baseline {
	return guard.Baseline{"transitions": {Count: 4}, "commits": {Count: 10, Slack: 0.1}}
}

// The negative control of `make bench-check`: whatever is worse fails.
func TestCompare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		counts guard.Counts
		faulty []string
	}{
		"as before":            {guard.Counts{"transitions": 4, "commits": 10}, nil},
		"better":               {guard.Counts{"transitions": 3, "commits": 5}, nil},
		"within the slack":     {guard.Counts{"transitions": 4, "commits": 10.9}, nil},
		"one transition more":  {guard.Counts{"transitions": 5, "commits": 10}, []string{"transitions"}},
		"past the slack":       {guard.Counts{"transitions": 4, "commits": 11.1}, []string{"commits"}},
		"a count is not taken": {guard.Counts{"transitions": 4}, []string{"commits"}},
		"a count is not known": {guard.Counts{"transitions": 4, "commits": 10, "events": 1}, []string{"events"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var faulty []string
			for _, finding := range baseline().Compare(c.counts) {
				if finding.Faulty {
					faulty = append(faulty, finding.Name)
				}
			}
			require.Equal(t, c.faulty, faulty)
			if err := baseline().Hold(io.Discard, c.counts); c.faulty != nil {
				require.ErrorIs(t, err, guard.ErrWorse)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func TestBaselineIsKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "baseline.json")
	updated := baseline().With(guard.Counts{"transitions": 3, "commits": 9})
	require.NoError(t, updated.Save(file))
	again, err := guard.Load(file)
	require.NoError(t, err)
	require.Equal(t, guard.Baseline{"transitions": {Count: 3}, "commits": {Count: 9, Slack: 0.1}}, again)
}

// What stands in the repository guards what it promises to.
func TestCommittedBaseline(t *testing.T) {
	t.Parallel()
	committed, err := guard.Load("../baseline.json")
	require.NoError(t, err)
	for subject, transitions := range map[string]float64{
		"wakecall/sqlite": 2, "wakecall-serve/postgres": 2, // started eagerly
		"wakecall/postgres": 4, // cold: its gateway has no worker beside it
	} {
		require.Equal(t, guard.Limit{Count: transitions}, committed[subject+" state_transitions_per_timer"])
	}
	require.Contains(t, committed, "wakecall/postgres commits_per_timer")
	require.Contains(t, committed, "wakecall-serve/postgres commits_per_timer")
	require.Contains(t, committed, guard.AllocsPerAdd)
}
