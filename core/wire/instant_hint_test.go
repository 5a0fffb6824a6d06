package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATimeThatIsRefusedNamesTheRightOne(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`1795000000`:                "2026-11-18T11:06:40Z",
		`1795000000000`:             "2026-11-18T11:06:40Z",
		`1795000000123`:             "2026-11-18T11:06:40.123Z",
		`1795000000.5`:              "2026-11-18T11:06:40.5Z",
		`"1795000000"`:              "2026-11-18T11:06:40Z",
		`1795000000 `:               "",
		`1.795e9`:                   "2026-11-18T11:06:40Z",
		`0`:                         "",
		`-5`:                        "",
		`NaN`:                       "",
		`1e300`:                     "",
		`"soon"`:                    "",
		`true`:                      "",
		`"2027-01-31T09:00"`:        "due_local",
		`2027-01-31 09:00:00`:       "due_local",
		strings.Repeat("1", 1<<10):  "",
		`"2027-01-31T09:00:00+25"`:  "",
		`"2027-01-31T09:00:00.5"`:   "due_local",
		`"2027-01-31T09:00:00.555"`: "due_local",
	} {
		said := InstantRefusal(raw)
		require.Contains(t, said, "RFC 3339", raw)
		require.Contains(t, said, want, raw)
		_, value, given := strings.Cut(said, "send ")
		require.Equal(t, want != "" && want != "due_local", given, "%s: %s", raw, said)
		if given {
			var at Instant
			require.NoError(t, json.Unmarshal([]byte(value), &at), "what it says is accepted")
		}
	}
}
