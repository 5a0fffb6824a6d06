package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// An immediate stop is PostgreSQL's own crash: no checkpoint, and recovery from
// the log at the next start.
func (p *production) postgresStoppedAtOnce() {
	p.run(trial{fault: "pg_ctl stop -m immediate", plan: busy(scaled(1000, 120)), strike: func(*load.Load) {
		for range scaled(10, 1) {
			p.pause(p.between(time.Second, 3*time.Second))
			p.awaitHeld()
			f := p.breaks(true)
			p.deployment.Postgres.StopNow()
			p.pause(p.between(0, 2*time.Second))
			p.heals(f)
			p.revive("postgres")
		}
	}})
}

func TestBackendsTerminated(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.run(trial{fault: "every backend of PostgreSQL terminated, each 5 s", plan: busy(750), strike: func(*load.Load) {
			for range 10 {
				p.awaitHeld()
				f := p.breaks(true)
				require.NotZero(t, p.deployment.Postgres.Terminate())
				p.heals(f)
				p.pause(5 * time.Second)
			}
		}})
	})
}

func TestNoConnectionsLeft(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.run(trial{fault: "no connections left at PostgreSQL", plan: busy(750), strike: func(*load.Load) {
			for range 2 {
				p.awaitHeld()
				f := p.breaks(true)
				release := p.deployment.Postgres.Exhaust()
				p.pause(10 * time.Second)
				p.heals(f)
				release()
				p.pause(5 * time.Second)
			}
		}})
	})
}

// storeFaults are frequent enough that each timer meets one.
var storeFaults = process.StoreFaults{
	"ExecutionStore": {
		"CreateWorkflowExecution": {"Timeout": 0.05, "ExecuteAndTimeout": 0.05},
		"UpdateWorkflowExecution": {"Timeout": 0.05, "ExecuteAndTimeout": 0.05},
		"GetWorkflowExecution":    {"Timeout": 0.05},
		"AppendHistoryNodes":      {"Timeout": 0.02, "ExecuteAndTimeout": 0.02},
		"GetHistoryTasks":         {"Timeout": 0.02},
	},
	"ShardStore": {"UpdateShard": {"ShardOwnershipLost": 0.02}},
	"TaskStore":  {"CreateTasks": {"Timeout": 0.05, "ExecuteAndTimeout": 0.05}, "GetTasks": {"Timeout": 0.05}},
}

// The store's report of a write is false now and then. It loses nothing, and rings nothing
// twice: a task that comes again finds the receipt.
func TestStoreUnreliable(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.deployment.Unreliable(storeFaults)
		p.living["temporal"] = p.deployment.Temporal
		_, summary := p.run(trial{fault: "one write in ten fails, half of them only seemingly", plan: busy(1000), strike: func(l *load.Load) {
			f := p.breaks(false)
			l.Wait()
			p.heals(f)
			require.Contains(t, p.deployment.Temporal.Stdout(), "fault injection error", "the faults are real")
			p.deployment.Unreliable(nil)
			p.living["temporal"] = p.deployment.Temporal
		}})
		require.Zero(t, summary.Duplicates, "nothing crashed")
	})
}
