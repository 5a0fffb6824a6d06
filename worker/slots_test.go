package worker

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A paused type gets no slot until it is resumed.
func TestSlotsOfAPausedType(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTypeSlots(1)
		s.hold(true)
		require.Nil(t, s.TryReserveSlot(nil))
		given := false
		go func() {
			_, err := s.ReserveSlot(context.Background(), nil)
			given = err == nil
		}()
		synctest.Wait()
		require.False(t, given)
		s.hold(false)
		synctest.Wait()
		require.True(t, given)
	})
}
