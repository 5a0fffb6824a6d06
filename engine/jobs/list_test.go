package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/job"
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
		require.Equal(t, "WorkflowType = 'WakecallRedelivery'"+want, (&Jobs[job.Redelivery, job.Redelivered]{kind: Redeliveries}).query(Request{Status: status}).String())
	}
}
