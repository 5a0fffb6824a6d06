package decode

import (
	"math/big"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestIntegers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"3": 3, "3.0": 3, "3.000": 3, "30e-1": 3, "0.3e1": 3, "1e2": 100, "1E+2": 100, "100e-2": 1, "0": 0, "-0": 0, "0.0": 0, "0e99999999999999999999": 0,
		"-3.0": -3, "9223372036854775807": 1<<63 - 1, "9223372036854775807.0": 1<<63 - 1, "-9223372036854775808": -1 << 63, "1e18": 1e18,
		"0.00000000000000000001e20": 1, "1e0000000000000000000000002": 100,
	} {
		got, ok := integer([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"3.5", "3.0000000000000000000001", "1e-1", "9223372036854775808", "1e19", "1e99999999999999999999", `"3"`, "", "03", "1.", ".5", "+1", "0x10", "1e", "NaN",
	} {
		_, ok := integer([]byte(text))
		require.False(t, ok, text)
	}
}

// An integer is what exact arithmetic says it is.
func FuzzInteger(f *testing.F) {
	for _, text := range []string{"3.0", "1e2", "-0.30e1", "9223372036854775807", "1e-9", "0e5"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		number, ok := integer([]byte(text))
		if len(text) > 40 || strings.Contains(strings.TrimLeft(strings.ToLower(text), "-.0123456789"), "e") && len(text) > 12 {
			return // exact arithmetic takes too long
		}
		if !jsontext.Value(text).IsValid() || jsontext.Value(text).Kind() != '0' {
			require.False(t, ok)
			return
		}
		exact, read := new(big.Rat).SetString(strings.TrimSpace(text))
		if !read || exact.Num().BitLen() > 1000 {
			return
		}
		require.Equal(t, exact.IsInt() && exact.Num().IsInt64(), ok, text)
		if ok {
			require.Equal(t, exact.Num().Int64(), int64(number), text)
		}
	})
}
