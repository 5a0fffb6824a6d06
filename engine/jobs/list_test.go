package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/workflows"
)

// The texts are those whose plans e2e holds SQLite to: the order of the conditions is
// part of them.
func TestTheQueryOfJobs(t *testing.T) {
	t.Parallel()
	for want, status := range map[string]job.Status{
		"":                                   "",
		" AND ExecutionStatus = 'Running'":   job.Running,
		" AND ExecutionStatus = 'Completed'": job.Done,
		" AND ExecutionStatus IN ('Canceled', 'Terminated')": job.Stopped,
		" AND ExecutionStatus IN ('Failed', 'TimedOut')":     job.Failed,
	} {
		require.Equal(t, "WorkflowType = 'WakecallBulk'"+want, (&Jobs[job.Bulk, job.BulkProgress]{kind: Kind[job.Bulk]{JobKind: workflows.BulkJob}}).query(Request{Status: status}).String())
	}
}
