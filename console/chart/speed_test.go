package chart

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A curve has a line for each speed. Where nobody looked, a line has a gap.
func TestACurve(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return time.Unix(1000+int64(seconds), 0) }
	require.Nil(t, CurveOf([]Speed{{At: at(0), Asked: 1}}), "one sample is no line")
	curve := CurveOf([]Speed{{at(0), 40, 0}, {at(5), 40, 30}, {at(80), 50, 50}, {at(90), 20, 20}, {at(100), 20, 0}})
	require.Equal(t, 50, curve.Most)
	require.Equal(t, "20.0", curve.Mean())
	require.Equal(t, "M0 120L50 48M800 0L900 72L1000 120", curve.Achieved())
	require.Equal(t, "M0 24L50 24M800 0L900 72L1000 72", curve.Asked())
	require.Len(t, curve.Rows(), 5)
	require.Equal(t, at(100), curve.Rows()[0].At)
	fast := CurveOf([]Speed{{at(0), 1200, 1180.25}, {at(1), 50_000, 1_234_567.891}})
	require.Equal(t, []Row{{at(1), "50,000.0", "1,234,567.9"}, {at(0), "1,200.0", "1,180.2"}}, fast.Rows(), "thousands are apart")
	var many []Speed
	for i := range 600 {
		many = append(many, Speed{At: at(i)})
	}
	require.Len(t, CurveOf(many).Rows(), 20)
	require.Equal(t, 1, CurveOf(many).Most, "nothing is divided by zero")
}
