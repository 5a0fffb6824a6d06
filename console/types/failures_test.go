package types

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The minute of an alert is the last one of that name, also where the alert is read after midnight.
func TestTheMinuteOfAnAlert(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	at := func(hour, minute int) time.Time {
		return day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	}
	for _, c := range []struct {
		now, from, to time.Time
		at            string
	}{
		{at(2, 42), at(2, 36), at(2, 46), "02:41"},
		{at(2, 42), at(2, 41), at(2, 43), "02:41..02:43"},
		{at(2, 42), at(1, 42), at(2, 42), ""},
		{at(2, 42), at(1, 42), at(2, 42), "soon"},
		{at(2, 42), at(1, 42), at(2, 42), "02:41.."},
		{at(0, 3), at(-1, 53), at(0, 3), "23:58"},
		{at(0, 3), at(-1, 53), at(0, 3), "23:58:00"},
		{at(0, 3), at(-1, 55), at(-1, 58), "23:55..23:58"},
		{at(0, 3), at(-1, 55), at(0, 2), "23:55..00:02"},
		{at(23, 59), at(23, 55), at(24, 5), "2026-11-30T00:00"},
		{at(2, 42), at(2, 38), at(2, 48), "02:43"},
		{at(2, 42), at(-22, 43), at(-22, 53), "02:48"},
	} {
		from, to, named := spanOf(c.at, c.now)
		require.Equal(t, []time.Time{c.from, c.to}, []time.Time{from, to}, "%s at %s", c.at, c.now)
		require.Equal(t, c.to.Sub(c.from) != failuresWithin, named, "%s at %s", c.at, c.now)
	}
}
