package limiter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// calls ends perSecond calls a second, for so many seconds.
func (r *rate) calls(now *time.Time, perSecond, seconds int, busy bool) {
	for range perSecond * seconds {
		*now = now.Add(time.Second / time.Duration(perSecond))
		r.count(*now, busy)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1, 0)
	r := rate{perSecond: 200}
	r.calls(&now, 20, 20, true)
	require.InDelta(t, 20, r.perSecond, 3, "it has all to do, and takes twenty")
	r.calls(&now, 400, 20, true)
	require.InDelta(t, 400, r.perSecond, 10)
	r.calls(&now, 5, 60, false)
	require.InDelta(t, 400, r.perSecond, 10, "it could have taken more")
	r = rate{perSecond: 10}
	r.calls(&now, 50, 20, false)
	require.InDelta(t, 50, r.perSecond, 2, "it takes that many at least")
}
