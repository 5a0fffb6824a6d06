package timers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A time is one of the zone that the browser names; without script, of UTC.
func TestTimesOfTheViewer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, offset, want string }{
		{"2026-11-26T03:00", "", "2026-11-26T03:00:00.000Z"},
		{"2026-11-26T03:00:07", "-60", "2026-11-26T02:00:07.000Z"},
		{"2026-11-26T23:00", "300", "2026-11-27T04:00:00.000Z"},
		{"2026-11-26T03:00", "x", "2026-11-26T03:00:00.000Z"},
		{"soon", "60", "soon"},
	} {
		require.Equal(t, c.want, instantOf(c.typed, c.offset))
	}
}
