package retryafter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/retryafter"
)

const most = time.Hour

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"0": 0, "1": time.Second, " 120 ": 2 * time.Minute, "999999": most,
		"4294967295": most, "4294967296": most, "999999999999": most,
		"99999999999999999999": most, "0000000000000000000000": 0, "0000000000000000000007": 7 * time.Second,
		"Sat, 21 Nov 2026 12:00:30 GMT":    30 * time.Second,
		"Saturday, 21-Nov-26 12:00:30 GMT": 30 * time.Second,
		"Sat Nov 21 12:00:30 2026":         30 * time.Second,
		"Sat, 21 Nov 2026 11:00:00 GMT":    0, // passed
		"Sat, 21 Nov 2099 11:00:00 GMT":    most,
		"":                                 0, "soon": 0, "-5": 0, "1.5": 0, "+5": 0, "5s": 0,
	} {
		require.Equal(t, want, retryafter.Parse(header, noon, most), "%q", header)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("120")
	f.Add("Sat, 21 Nov 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, header string) {
		wait := retryafter.Parse(header, noon, most)
		if wait < 0 || wait > most {
			t.Fatalf("%q asks for %s", header, wait)
		}
	})
}
