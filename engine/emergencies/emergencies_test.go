package emergencies

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// What is asked for again and again is read in the background, and a wrong answer is
// believed for no longer than its time.
func TestWhatIsPausedIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var held *policy.Emergency
		var failing error
		reads := 0
		c := newEmergencyCache(2*time.Second, func(context.Context, string) (*policy.Emergency, error) {
			reads++
			return held, failing
		})
		ask := func() bool {
			t.Helper()
			got, err := c.get(t.Context(), "order")
			require.NoError(t, err)
			synctest.Wait()
			return got != nil
		}
		require.False(t, ask())
		held = &policy.Emergency{BusinessType: "order", Author: "ana"}
		require.False(t, ask())
		require.Equal(t, 1, reads)
		time.Sleep(1100 * time.Millisecond) //nolint:forbidigo // the bubble's time
		require.False(t, ask(), "it is read beside that")
		require.Equal(t, 2, reads)
		require.True(t, ask())
		held = nil
		c.forget("order")
		require.False(t, ask())

		failing = &wire.Error{Code: wire.Unavailable}
		time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // the bubble's time
		require.False(t, ask(), "what is known holds while Temporal does not answer")
		time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
		_, err := c.get(t.Context(), "order")
		require.ErrorIs(t, err, failing, "and not for longer")
		synctest.Wait()
	})
}

// What was read while somebody paused is not kept.
func TestAReadThatWasOvertakenIsNotKept(t *testing.T) {
	t.Parallel()
	var c *emergencyCache
	c = newEmergencyCache(time.Hour, func(context.Context, string) (*policy.Emergency, error) {
		c.forget("order")
		return nil, nil
	})
	_, err := c.get(t.Context(), "order")
	require.NoError(t, err)
	require.Empty(t, c.entries)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.read = func(context.Context, string) (*policy.Emergency, error) {
		<-time.After(time.Millisecond)
		return nil, nil
	}
	_, err = c.get(ctx, "order")
	require.Error(t, err)
}
