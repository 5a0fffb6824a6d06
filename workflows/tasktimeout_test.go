package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// What a worker has to do with a timer fits into its task: preloading, the first attempt,
// and the recording, for which there is always some time.
func TestATaskHasTimeForAllOfATimer(t *testing.T) {
	t.Parallel()
	for preload, timeout := range map[time.Duration]time.Duration{
		0: 15 * time.Second, timer.DefaultPreload: 19 * time.Second, timer.MaxPreload: workflows.MaxTaskTimeout,
	} {
		memo := timer.Memo{Preload: timer.Preload{Lead: timer.Duration(preload), Window: timer.Duration(preload)}}
		require.Equal(t, timeout, workflows.TaskTimeout(memo), preload)
		require.Equal(t, timeout-preload-timer.DefaultAttemptTimeout, workflows.RecordTime(memo), preload)
		require.GreaterOrEqual(t, workflows.RecordTime(memo), 5*time.Second, preload)
		memo.NotPreloaded = true
		require.Equal(t, timeout, workflows.TaskTimeout(memo), "a timer keeps its timeout when it is rejected")
	}
}

// So it is for a timer that was handed to its worker with its booking, however long ahead.
func TestATaskHasTimeForATimerStartedEagerly(t *testing.T) {
	t.Parallel()
	usual := timer.Preload{Lead: timer.Duration(timer.DefaultPreload), Window: timer.Duration(timer.DefaultPreload)}
	for wait := time.Duration(0); ; wait += time.Second {
		preload, ok := usual.Eager(wait)
		if !ok {
			require.GreaterOrEqual(t, wait, 59*time.Second)
			return
		}
		memo := timer.Memo{Preload: preload}
		require.GreaterOrEqual(t, workflows.TaskTimeout(memo)*4/5, memo.Lead()+timer.DefaultAttemptTimeout, wait)
		require.LessOrEqual(t, workflows.TaskTimeout(memo)-memo.Lead(), 30*time.Second, "so late it is called after a crash")
		require.GreaterOrEqual(t, workflows.RecordTime(memo), 5*time.Second, wait)
	}
}
