package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
)

// Each path has a share, and from two on the shares are the limit.
func TestSharesOfInFlight(t *testing.T) {
	t.Parallel()
	for limit := 1; limit <= policy.MaxInFlight; limit++ {
		l := policy.Limits{InFlight: limit}
		require.Positive(t, l.FastShare(), limit)
		require.Positive(t, l.QueueShare(), limit)
		require.Equal(t, max(limit, 2), l.FastShare()+l.QueueShare(), limit)
	}
}
