package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

func TestEager(t *testing.T) {
	usual := Preload{Lead: wire.Duration(DefaultPreload), Window: wire.Duration(DefaultPreload)}
	for name, c := range map[string]struct {
		preload Preload
		wait    time.Duration
		lead    time.Duration // 0 for not at all
	}{
		"due now":              {usual, 0, DefaultPreload},
		"overdue":              {usual, -time.Hour, DefaultPreload},
		"due soon":             {usual, 20 * time.Second, 20*time.Second + eagerMargin},
		"as long as may be":    {usual, MaxPreload - eagerMargin, MaxPreload},
		"too long":             {usual, MaxPreload, 0},
		"handed out when due":  {Preload{}, time.Second, 0},
		"a short one, chosen":  {Preload{Lead: wire.Duration(time.Second), Window: wire.Duration(time.Second)}, time.Second, 0},
		"a long one is longer": {Preload{Lead: wire.Duration(40 * time.Second), Window: wire.Duration(MaxPreload)}, time.Second, 40 * time.Second},
	} {
		eager, ok := c.preload.Eager(c.wait)
		require.Equal(t, c.lead > 0, ok, name)
		if ok {
			require.Equal(t, Preload{Lead: wire.Duration(c.lead), Window: c.preload.Window}, eager, name)
		}
	}
}
