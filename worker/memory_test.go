package worker

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// What the shipped deployments give a worker has room for all that it may hold. A smaller limit has
// room for less, and the smallest for the attempts of the fast path.
func TestWhatAWorkerHoldsFitsIntoItsMemory(t *testing.T) {
	t.Parallel()
	const mebibytes = 1 << 20
	for limit, want := range map[int64]int{
		math.MaxInt64: tuning.WorkflowSlots, 1600 * mebibytes: tuning.WorkflowSlots,
		1000 * mebibytes: 7300, 100 * mebibytes: 2*tuning.FastPathSlots + tuning.MinPreloaded,
	} {
		require.Equal(t, want, workflowSlots(limit), limit)
		require.Equal(t, want-2*tuning.FastPathSlots, mostPreloaded(limit), limit)
	}
}
