package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurationsThatAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0s": 0, "90s": 90 * time.Second, "72h": 72 * time.Hour, "1h30m": 90 * time.Minute, "-5m": -5 * time.Minute,
		"3d": 3 * day, "2w": 14 * day, "1w2d": 9 * day, "1d12h": 36 * time.Hour, "-1d": -day, "1w0.5s": 7*day + time.Second/2,
		"P1D": day, "PT30M": 30 * time.Minute, "P1DT12H": 36 * time.Hour, "P2W": 14 * day, "PT1.5S": 1500 * time.Millisecond,
		"PT0,5S": 500 * time.Millisecond, "-P1D": -day, "9999w36758d": 106751 * day, "PT0S": 0, "P0D": 0, "PT36H": 36 * time.Hour,
	} {
		var d Duration
		require.NoError(t, d.UnmarshalText([]byte(text)), text)
		require.Equal(t, want, d.D(), text)
		var again Duration
		written, err := d.MarshalText()
		require.NoError(t, err)
		require.NoError(t, again.UnmarshalText(written))
		require.Equal(t, d, again, text)
	}
}

func TestDurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "3", "d", "w", "-", "+", "3D", "2W", "3 d", "1d2w", "1.5d", "1d1d", "1d-2h", "P", "PT", "P1DT", "P1", "p1d", "P1H", "PT1D", "P1Y", "P1M",
		"P1W2", "PT1H1H", "PT1.5H", "1dP1D", "99999999d", "106751d24h", "9999w36759d", "9999w99999d", "9999w99999d1044288h", "-9999w99999d1044288h", "P9999W99999DT1044288H", "P1D ", "\u0661d", "1d1", "1dx",
	} {
		var d Duration
		require.EqualError(t, d.UnmarshalText([]byte(text)), DurationForm, text)
		require.Zero(t, d)
	}
}

func FuzzDuration(f *testing.F) {
	for _, text := range []string{"1w2d3h", "P1DT12H", "-1d", "PT0,5S", "9999w99999d9h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d, again Duration
		if d.UnmarshalText([]byte(text)) != nil {
			return
		}
		require.NoError(t, again.UnmarshalText([]byte(d.String())))
		require.Equal(t, d, again)
	})
}
