package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestOffsetsThatThereAreNot(t *testing.T) {
	t.Parallel()
	for offset, want := range map[string]bool{
		"Z": true, "+00:00": true, "-00:00": true, "+23:59": true, "-12:30": true,
		"+24:00": false, "-24:00": false, "+00:60": false, "+23:60": false, "-23:60": false, "+99:00": false,
	} {
		var at wire.Instant
		require.Equal(t, want, at.UnmarshalText([]byte("2026-11-21T09:30:00"+offset)) == nil, offset)
	}
}

func TestZonesByFileName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"localtime", "posixrules", "posix/UTC", "posix/Europe/London", "right/UTC", "right/Europe/London", "Europe//London", "Europe/London/",
		"/Europe/London", "./UTC", "Europe/../UTC", "Local", "Factory", "UTC ", "utc", "Europe/london",
	} {
		require.Error(t, calendar.CheckTimezone(name), name)
	}
	for _, name := range []string{
		"", "UTC", "Europe/London", "America/Argentina/Buenos_Aires", "America/North_Dakota/New_Salem", "Etc/GMT-14", "Etc/GMT-1", "GMT0",
		"America/Port-au-Prince", "EST5EDT", "W-SU", "GB-Eire",
	} {
		require.NoError(t, calendar.CheckTimezone(name), name)
	}
}

func TestIDsOfDots(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{".": false, "..": false, "...": true, ".a": true, "..a": true, "a.": true} {
		require.Equal(t, want, len(wire.Key{BusinessType: "order", BusinessID: id}.Check()) == 0, "business and dispatch id %q", id)
		require.Equal(t, want, len(dispatch.Item{ID: id}.Check()) == 0, "item %q", id)
		require.Equal(t, want, len(job.CheckID(id)) == 0, "job %q", id)
		require.Equal(t, want, len(timer.Filter{BusinessID: id}.Check()) == 0, "filter %q", id)
		_, ok := wire.ParseKey("order/" + id)
		require.Equal(t, want, ok, id)
	}
	require.NotEmpty(t, wire.CheckBusinessType("."))
	require.NotEmpty(t, wire.CheckBusinessType(".."))
}

// A key has one spelling, because another would count as another secret.
func TestSecretsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	_, ok := policy.DecodeSecret(secret)
	require.True(t, ok)
	for _, other := range []string{
		secret + "\n", secret + "\r\n", secret[:20] + "\n" + secret[20:], secret + " ", "whsec_\n" + secret[6:],
		"whsec_" + strings.Repeat("A", 33) + "B==", // bits beyond the last byte
	} {
		_, ok := policy.DecodeSecret(other)
		require.False(t, ok, "%q", other)
	}
}
