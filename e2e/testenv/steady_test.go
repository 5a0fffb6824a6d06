package testenv

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A failure counts unless the process stood still, and then if it comes again.
func TestSteadily(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails, gaps []int // in which experiments, from 1
		made        int
		failed      bool
	}{
		"holds":                             {nil, []int{1}, 1, false},
		"fails":                             {[]int{1}, nil, 1, true},
		"fails as it stands still":          {[]int{1}, []int{1}, 2, false},
		"fails as it stands still, and not": {[]int{1, 2}, []int{1}, 2, true},
		"fails always":                      {[]int{1, 2, 3}, []int{1, 2, 3}, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, cleaned := 0, 0
			gapOf := func(do func()) time.Duration {
				do()
				if slices.Contains(c.gaps, made) {
					return stoodStill
				}
				return stoodStill - 1
			}
			test := &trial{TB: t}
			test.run(func(t testing.TB) {
				steadily(t, gapOf, func(t testing.TB) {
					made++
					ctx := t.Context()
					t.Cleanup(func() { cleaned++; require.Error(test.TB, ctx.Err()) })
					require.False(t, slices.Contains(c.fails, made), "experiment %d", made)
				})
			})
			failed, errors := test.result()
			require.Equal(t, c.failed, failed)
			require.Equal(t, c.made, made)
			require.Equal(t, made, cleaned)
			if failed {
				require.Contains(t, errors, "experiment")
			}
		})
	}
}

// A cleanup that fails is a failure, and the others are made all the same, the last first.
func TestCleanupsAfterOneThatFails(t *testing.T) {
	t.Parallel()
	var made []int
	test := &trial{TB: t}
	test.run(func(t testing.TB) {
		for n := range 3 {
			t.Cleanup(func() {
				made = append(made, n)
				require.NotEqual(t, 1, n, "the second")
			})
		}
	})
	failed, errors := test.result()
	require.True(t, failed)
	require.Contains(t, errors, "the second")
	require.Equal(t, []int{2, 1, 0}, made)
}

// A process that is stopped stands still, and one that waits does not.
func TestLongestGap(t *testing.T) {
	gapDuring := func(script string) time.Duration {
		command := exec.CommandContext(t.Context(), "sh", "-c", script)
		return longestGap(func() { require.NoError(t, command.Run()) })
	}
	require.GreaterOrEqual(t, gapDuring("kill -STOP $PPID; sleep 1.2; kill -CONT $PPID"), stoodStill)
	require.Eventually(t, func() bool { return gapDuring("sleep 0.2") < stoodStill }, Patience, Interval, "the machine goes on")
}
