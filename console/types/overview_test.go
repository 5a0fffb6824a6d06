package types

import (
	"testing"

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
