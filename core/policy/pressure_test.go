package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// held returns a policy whose receiver asked for an hour at noon.
func held() policy.Policy {
	return policy.Policy{BackPressure: &policy.BackPressure{Since: wire.At(noon), Until: wire.At(noon.Add(time.Hour)), Status: 503}}
}

func TestLiftedPressure(t *testing.T) {
	t.Parallel()
	at := wire.At(noon.Add(time.Minute))
	lifted := held().LiftBackPressure(at)
	_, isHeld := lifted.HeldBack(noon.Add(time.Minute))
	require.False(t, isHeld)
	require.False(t, lifted.Grants(*held().BackPressure), "what was asked for before does not count")
	require.False(t, lifted.Grants(policy.BackPressure{Since: at}))
	require.True(t, lifted.Grants(policy.BackPressure{Since: at + 1}), "what is asked for since does")
	require.True(t, held().Grants(policy.BackPressure{}), "nothing was ever lifted")
	next := policy.Policy{}.Inherit(lifted, at)
	require.Equal(t, at, next.PressureLiftedAt, "a change of the policy forgets nothing")
}

// A policy inherits back-pressure, up to its own longest wait.
func TestInheritedPressure(t *testing.T) {
	t.Parallel()
	now := wire.At(noon.Add(10 * time.Minute))
	for most, left := range map[time.Duration]time.Duration{
		time.Hour: 50 * time.Minute, 50 * time.Minute: 50 * time.Minute, time.Minute: time.Minute, 0: 0,
	} {
		patience := wire.Duration(most)
		next := policy.Policy{MaxBackPressure: &patience}.Inherit(held(), now)
		require.Equal(t, left, next.BackPressure.Until.Until(now.Time()), most)
		_, isHeld := next.HeldBack(now.Time())
		require.Equal(t, left > 0, isHeld)
		require.Equal(t, left == 50*time.Minute, next.Grants(*held().BackPressure), "a worker that knows the longer one drops it")
	}
}
