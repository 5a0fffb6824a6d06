package visibility

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
)

// The texts are those whose plans e2e holds SQLite to: the order of the conditions is
// part of them.
func TestQueries(t *testing.T) {
	t.Parallel()
	const of = "WorkflowType = 'WakecallTimer' AND "
	at := wire.At(time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC))
	for want, q := range map[string]query.Query{
		of + "BusinessType = 'order' AND ExecutionStatus = 'Running'":                                                   OpenTimers("order"),
		of + "ExecutionStatus = 'Running' AND ExecutionTime < '2026-11-23T09:30:00.000Z' AND TimerState IS NULL":        Overdue(Untried(), at),
		of + "ExecutionStatus = 'Running' AND ExecutionTime < '2026-11-23T09:30:00.000Z' AND TimerState = 'delivering'": Overdue(Retrying(), at),
		of + "TimerLabels = ':redelivery'":                                        Redeliveries(),
		"WorkflowType = 'WakecallPolicy' AND ExecutionStatus != 'ContinuedAsNew'": Policies(),
		"WorkflowId = 'policy:order' AND ExecutionStatus = 'Running'":             OpenPolicy("order"),
	} {
		require.Equal(t, want, q.String())
	}
}
