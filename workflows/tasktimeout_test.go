package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// A worker's work on a timer fits into its task: preloading, the first attempt, and the
// recording, for which there is always some time.
func TestATaskHasTimeForAllOfATimer(t *testing.T) {
	t.Parallel()
	for preload, timeout := range map[time.Duration]time.Duration{
		0: 15 * time.Second, policy.DefaultPreload: 19 * time.Second, policy.MaxPreload: workflows.MaxTaskTimeout,
	} {
		memo := timer.Memo{Preload: policy.Preload{Lead: wire.Duration(preload), Window: wire.Duration(preload)}}
		require.Equal(t, timeout, workflows.TaskTimeout(memo), preload)
		require.Equal(t, timeout-preload-delivery.DefaultAttemptTimeout, workflows.RecordTime(memo), preload)
		require.GreaterOrEqual(t, workflows.RecordTime(memo), 5*time.Second, preload)
		memo.NotPreloaded = true
		require.Equal(t, timeout, workflows.TaskTimeout(memo), "a timer keeps its timeout when it is rejected")
	}
}

// The same holds for a timer that its worker got with its booking, however far ahead.
func TestATaskHasTimeForATimerStartedEagerly(t *testing.T) {
	t.Parallel()
	usual := policy.Preload{Lead: wire.Duration(policy.DefaultPreload), Window: wire.Duration(policy.DefaultPreload)}
	for wait := time.Duration(0); ; wait += time.Second {
		preload, ok := usual.Eager(wait)
		if !ok {
			require.GreaterOrEqual(t, wait, 59*time.Second)
			return
		}
		memo := timer.Memo{Preload: preload}
		require.GreaterOrEqual(t, workflows.TaskTimeout(memo)*4/5, memo.Lead()+delivery.DefaultAttemptTimeout, wait)
		require.LessOrEqual(t, workflows.TaskTimeout(memo)-memo.Lead(), 30*time.Second, "so late it is called after a crash")
		require.GreaterOrEqual(t, workflows.RecordTime(memo), 5*time.Second, wait)
	}
}
