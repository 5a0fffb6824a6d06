package types

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/watch"
)

// Before the first count there is no number: none would say that there are no timers.
func TestTilesBeforeTheFirstCount(t *testing.T) {
	t.Parallel()
	for _, one := range tilesOf(&watch.Picture{}, "", true) {
		require.False(t, one.Counted, one.Key)
	}
	counted := &watch.Picture{Counts: map[string]*calls.Counts{"order-close": {Scheduled: 3}, "refund": {Scheduled: 4}}}
	for n, one := range tilesOf(counted, "", true) {
		require.True(t, one.Counted, one.Key)
		require.Equal(t, n == 0, one.N == 7, one.Key)
	}
	require.Equal(t, 4, tilesOf(counted, "refund", true)[0].N)
}

// Due within an hour is what falls due in sixty minutes: nothing that has rung, and nothing later.
func TestDueWithinAnHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 2, 51, 7, 0, time.UTC)
	row := TypeRow{}
	require.Zero(t, row.dueSoon(now))
	row.Soon = &calls.Forecast{}
	for minute := -10; minute < 90; minute++ {
		row.Soon.Steps = append(row.Soon.Steps, calls.Step{At: now.Truncate(time.Minute).Add(time.Duration(minute) * time.Minute), Due: 1})
	}
	require.Equal(t, 60, row.dueSoon(now), "one a minute")
	row.Soon.Steps = []calls.Step{{At: now.Truncate(time.Minute).Add(61 * time.Minute), Due: 10}}
	require.Zero(t, row.dueSoon(now), "they are due in 61 minutes")
	row.Soon.Steps = []calls.Step{{At: now.Truncate(time.Minute), Due: 1, DispatchItems: 2}}
	require.Equal(t, 3, row.dueSoon(now))
}
