package failover

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// missing are workflow tasks that Temporal has handed to this process, and that have not
// arrived. Temporal gives up an answer to a poll that it could not record within a second. If
// it was recorded after all, no worker knows of the task.
type missing struct {
	mu    sync.Mutex
	tasks map[string]missingTask // by run
}

type missingTask struct {
	startedID int64
	since     time.Time
}

// forLong reports whether a task has been missing for so long that it is not on its way.
func (m *missing) forLong(run string, startedID int64, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.tasks[run]
	if ok && known.startedID == startedID {
		return now.Sub(known.since) >= tuning.TaskArrives
	}
	if m.tasks == nil {
		m.tasks = map[string]missingTask{}
	}
	for run, task := range m.tasks {
		if now.Sub(task.since) > tuning.OldestHeld {
			delete(m.tasks, run)
		}
	}
	m.tasks[run] = missingTask{startedID, now}
	return false
}
