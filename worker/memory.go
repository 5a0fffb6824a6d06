package worker

import (
	"runtime/debug"

	"github.com/wakecall/wakecall/internal/tuning"
)

// memoryLimit is the soft limit that GOMEMLIMIT sets, in bytes; math.MaxInt64 for none. It is read
// before the standalone form begins to move it.
var memoryLimit = debug.SetMemoryLimit(-1)

// workflowSlots returns how many workflow tasks a process may have at once: as many as fit into its
// memory. At the limit Go's collector runs without a pause and takes half of the processors.
func workflowSlots(limit int64) int {
	room := int64(float64(limit)*tuning.HeldPart) - tuning.WorkerMemory
	return int(min(max(room/tuning.HeldMemory, 2*tuning.FastPathSlots+tuning.MinPreloaded), tuning.WorkflowSlots))
}

// mostPreloaded returns how many of them may be of timers that are preloaded.
func mostPreloaded(limit int64) int {
	return min(workflowSlots(limit)-2*tuning.FastPathSlots, tuning.MaxPreloaded)
}
