package calls

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// The console estimates as the API does.
func TestTakes(t *testing.T) {
	t.Parallel()
	require.Equal(t, 10*time.Second, Takes(5, 0.5))
	for _, many := range []float64{0, 1, 1e6, 1e7, 1e12} {
		for _, perSecond := range []float64{policy.MinRate, 0.5, 1000} {
			require.Equal(t, wire.Estimate(many, perSecond), Takes(many, perSecond), "%g at %g", many, perSecond)
		}
	}
}
