package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// The texts are those whose plans e2e holds SQLite to: the order of the conditions is
// part of them.
func TestTheQueryOfAFilter(t *testing.T) {
	t.Parallel()
	const of = "WorkflowType = 'WakecallTimer' AND "
	const latest = "ExecutionStatus IN ('Running', 'Completed', 'Failed', 'TimedOut', 'Canceled', 'Terminated', 'Paused')"
	at := wire.At(time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC))
	for want, f := range map[string]timer.Filter{
		"ExecutionStatus != 'ContinuedAsNew'":                                                                                        {},
		"ExecutionStatus = 'Running' AND TimerState IS NULL":                                                                         {Status: timer.Scheduled},
		"ExecutionStatus = 'Running' AND TimerState = 'delivering'":                                                                  {Status: timer.Delivering},
		"ExecutionStatus = 'Running' AND TimerState = 'paused'":                                                                      {Status: timer.Paused},
		"ExecutionStatus = 'Completed' AND (TimerState IS NULL OR TimerState != 'expired')":                                          {Status: timer.Delivered},
		"ExecutionStatus = 'Completed' AND TimerState = 'expired'":                                                                   {Status: timer.Expired},
		"ExecutionStatus IN ('Failed', 'TimedOut')":                                                                                  {Status: timer.Failed},
		"ExecutionStatus IN ('Canceled', 'Terminated')":                                                                              {Status: timer.Cancelled},
		"ExecutionStatus != 'ContinuedAsNew' AND TimerLabels = 'customer=42' AND TimerLabels = 'env=test'":                           {Labels: timer.Labels{"env": "test", "customer": "42"}},
		"ExecutionStatus != 'ContinuedAsNew' AND BusinessType = 'order'":                                                             {BusinessType: "order"},
		latest + " AND DueAt >= '2026-11-23T09:29:59.000Z' AND DueAt <= '2026-11-23T09:30:01.000Z'":                                  {DueFrom: at, DueTo: at},
		"ExecutionStatus = 'Running' AND TimerState IS NULL AND DueAt <= '2026-11-23T09:30:01.000Z'":                                 {Status: timer.Scheduled, DueTo: at},
		"ExecutionStatus != 'ContinuedAsNew' AND CloseTime >= '2026-11-23T09:30:00.000Z' AND CloseTime < '2026-11-23T09:30:00.001Z'": {EndedFrom: at, EndedTo: at},
	} {
		require.Equal(t, of+want, QueryOf(f).String())
	}
}
