package policies

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// A burst of refused callbacks repeats one wish for patience, and tells it once.
func TestBackPressureIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		on := &enginetest.Temporal{}
		on.Policy(t, policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: delivery.Destination{URL: "https://r.test/"}}}.WithDefaults())
		policies := New(kernel.New(on, "default", ""), Config{TTL: time.Hour})
		_, err := policies.Policy(t.Context(), "order")
		require.NoError(t, err)
		wish := policy.BackPressure{Until: wire.At(time.Now()).Add(time.Minute), Since: wire.At(time.Now())}
		for range 10 {
			require.NoError(t, policies.HoldBack(t.Context(), "order", wish))
		}
		require.Len(t, on.Signals(workflows.PolicyID("order")), 1)
		policy, err := policies.Policy(t.Context(), "order")
		require.NoError(t, err)
		require.Equal(t, wish.Until, policy.BackPressure.Until, "it holds here at once")

		wish.Until = wish.Until.Add(tuning.PressureStep)
		on.Err = errors.New("down")
		require.Error(t, policies.HoldBack(t.Context(), "order", wish))
		on.Err = nil
		require.NoError(t, policies.HoldBack(t.Context(), "order", wish))
		require.Len(t, on.Signals(workflows.PolicyID("order")), 3, "what nobody has heard of is news")
	})
}
