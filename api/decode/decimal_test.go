package decode

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is not 0 is not read as 0, however small it is.
func TestDecimals(t *testing.T) {
	t.Parallel()
	const least = math.SmallestNonzeroFloat64
	for text, want := range map[string]float64{
		"0": 0, "-0": 0, "0.00": 0, "0e5": 0, "0E-400": 0, "1.5": 1.5, "-2e0": -2, "1e-3": 0.001, "5e-324": least,
		"1e-400": least, "-1e-400": -least, "1E-99999999999999999999": least, "0." + strings.Repeat("0", 400) + "1": least,
	} {
		got, err := decimal([]byte(text))
		require.NoError(t, err, text)
		require.InDelta(t, want, got, 0, text)
	}
	for _, text := range []string{"1e400", `"1"`, "true", "", ".5", "01", "NaN"} {
		_, err := decimal([]byte(text))
		require.Error(t, err, text)
	}
}
