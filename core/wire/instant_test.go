package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

func TestInstantText(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"2026-11-21T09:30:00Z":                "2026-11-21T09:30:00.000Z",
		"2026-11-21T10:30:00+01:00":           "2026-11-21T09:30:00.000Z",
		"2026-11-21T09:30:00.5Z":              "2026-11-21T09:30:00.500Z",
		"2026-11-21T09:30:00.000000000001Z":   "2026-11-21T09:30:00.000Z",
		"2026-11-21T09:30:00.000001Z":         "2026-11-21T09:30:00.001Z", // up, never early
		"2026-11-21T09:30:00.123456789-00:00": "2026-11-21T09:30:00.124Z",
		"9999-12-31T23:59:59Z":                "9999-12-31T23:59:59.000Z",
		"2026-11-21t09:30:00z":                "2026-11-21T09:30:00.000Z",
		"2026-11-21t09:30:00.5+01:00":         "2026-11-21T08:30:00.500Z",
		"2026-11-21T09:30:00.25z":             "2026-11-21T09:30:00.250Z",
	}
	for in, want := range cases {
		var at wire.Instant
		require.NoError(t, at.UnmarshalText([]byte(in)), in)
		require.Equal(t, want, at.String(), in)
	}
	refused := []string{
		"", "now", "2026-11-21", "2026-11-21T09:30:00", "2026-12-31T23:59:60Z", "2026-02-30T00:00:00Z",
		"2026-11-21T09:30:00+25:00", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "1969-12-31T23:59:59Z",
		"2026-11-21T9:30:00Z", "2026-11-21T09:30:00,5Z", "2026-11-21 09:30:00Z",
	}
	for _, in := range refused {
		var at wire.Instant
		require.Error(t, at.UnmarshalText([]byte(in)), in)
	}
}

func TestDurationText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"90s": "1m30s", "30m": "30m", "72h": "72h", "1500ms": "1.5s", "0s": "0s", "1h0m5s": "1h0m5s", "10s": "10s", "100m": "1h40m",
	} {
		var d wire.Duration
		require.NoError(t, d.UnmarshalText([]byte(in)), in)
		require.Equal(t, want, d.String(), in)
	}
	for _, in := range []string{"", "5", "1y", "abc", "9999999h", "1e3s"} {
		var d wire.Duration
		require.Error(t, d.UnmarshalText([]byte(in)), in)
	}
}

func FuzzInstant(f *testing.F) {
	f.Add("2026-11-21T09:30:00.000Z")
	f.Add("9999-12-31T23:59:59.9999Z")
	f.Fuzz(func(t *testing.T, text string) {
		var at wire.Instant
		if at.UnmarshalText([]byte(text)) != nil {
			return
		}
		raw, err := json.Marshal(at)
		require.NoError(t, err)
		var again wire.Instant
		require.NoError(t, json.Unmarshal(raw, &again), "%s", raw)
		require.Equal(t, at, again)
	})
}

func FuzzDuration(f *testing.F) {
	f.Add("1h30m")
	f.Add("-2562047h47m16.854775808s")
	f.Fuzz(func(t *testing.T, text string) {
		var d, again wire.Duration
		if d.UnmarshalText([]byte(text)) != nil {
			return
		}
		require.NoError(t, again.UnmarshalText([]byte(d.String())), d)
		require.Equal(t, d, again)
	})
}

func TestAtRoundsUp(t *testing.T) {
	t.Parallel()
	exact := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	require.Equal(t, wire.Instant(exact.UnixMilli()), wire.At(exact))
	require.Equal(t, wire.Instant(exact.UnixMilli()+1), wire.At(exact.Add(1)))
}
