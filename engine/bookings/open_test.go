package bookings

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// counter counts open timers, and takes a while for it.
type counter struct {
	mu    sync.Mutex
	open  int
	takes time.Duration
	err   error
	asked int
}

func (c *counter) count(ctx context.Context) (int, error) {
	c.mu.Lock()
	c.asked++
	open, takes, err := c.open, c.takes, c.err
	c.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return open, err
}

// becomes changes what is counted, and how long that takes.
func (c *counter) becomes(open int, takes time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open, c.takes = open, takes
}

func (c *counter) times() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// admitted reports whether a booking is let in, and after which wait.
func admitted(t *testing.T, s *openCount, limit int, c *counter) (ok bool, waited time.Duration) {
	t.Helper()
	began := time.Now()
	ok = s.admit(t.Context(), limit, c.count)
	return ok, time.Since(began)
}

func TestWhatWasBookedSinceTheCountIsCountedIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := &openCount{}, &counter{open: 8}
		for n, want := range []bool{true, true, false, false} {
			ok, waited := admitted(t, s, 10, c)
			require.Equal(t, want, ok, "booking %d", n)
			require.Zero(t, waited)
		}
		require.Equal(t, 1, c.times(), "a count is trusted for a moment")
		<-time.After(tuning.CountTrusted + 1)
		c.becomes(9, 0) // one of the ten has ended
		ok, _ := admitted(t, s, 10, c)
		require.True(t, ok)
		ok, _ = admitted(t, s, 10, c)
		require.False(t, ok)
		ok, _ = admitted(t, s, 0, c)
		require.False(t, ok, "a limit of none needs no count")
	})
}

// A booking that opened nothing leaves its place, also while a count is under way that was
// begun with it.
func TestABookingThatOpenedNothingLeavesItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := &openCount{}, &counter{open: 9}
		for range 5 {
			ok, _ := admitted(t, s, 10, c)
			require.True(t, ok)
			s.release()
		}
		<-time.After(tuning.CountTrusted + 1)
		c.becomes(9, tuning.CountPatience*2)
		ok, _ := admitted(t, s, 10, c)
		require.True(t, ok)
		ok, _ = admitted(t, s, 10, c)
		require.False(t, ok)
		s.release()
		<-time.After(tuning.CountPatience * 2)
		ok, _ = admitted(t, s, 10, c)
		require.True(t, ok, "nine were counted, and none is booked")
		ok, _ = admitted(t, s, 10, c)
		require.False(t, ok)
	})
}

// Visibility that hangs holds the first bookings up for a moment, the others for
// none, and refuses nobody for longer than its last count holds.
func TestAStockThatCannotBeCountedHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := &openCount{}, &counter{open: 10}
		ok, _ := admitted(t, s, 10, c)
		require.False(t, ok)
		c.becomes(10, time.Hour)
		<-time.After(tuning.CountTrusted + 1)
		ok, waited := admitted(t, s, 10, c)
		require.False(t, ok, "the last count is young")
		require.Equal(t, tuning.CountPatience, waited)
		<-time.After(tuning.CountStale)
		for range 100 {
			ok, waited = admitted(t, s, 10, c)
			require.True(t, ok)
			require.Zero(t, waited, "somebody has waited already")
		}
		require.Equal(t, 2, c.times(), "one count at a time")
		<-time.After(tuning.CallTimeout)
		c.becomes(110, 0)
		ok, waited = admitted(t, s, 10, c)
		require.False(t, ok, "visibility is back")
		require.Zero(t, waited)
	})
}

func TestACountThatFailsIsNotAskedForByEveryBooking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := &openCount{}, &counter{err: errors.New("no such table")}
		for range 100 {
			ok, waited := admitted(t, s, 10, c)
			require.True(t, ok)
			require.Zero(t, waited)
		}
		require.Equal(t, 1, c.times())
	})
}
