package timer

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A booking stores the latest keys of earlier bookings of its id, with the last run of each.
func TestEarlierKeysAreRemembered(t *testing.T) {
	t.Parallel()
	keyed := func(n int) *Idempotency { return IdempotencyOf("key-"+strconv.Itoa(n), Terms{}) }
	memo := Memo{Idempotency: keyed(0)}
	const bookings = MaxEarlierKeys + 3
	for n := 1; n <= bookings; n++ {
		memo = Memo{Idempotency: keyed(n)}.Following(memo, "run-"+strconv.Itoa(n-1))
	}
	require.Len(t, memo.EarlierKeys, MaxEarlierKeys)
	require.True(t, memo.BookedUnder(keyed(bookings)))
	require.Equal(t, "run-"+strconv.Itoa(bookings-1), memo.EarlierKeys.Run(keyed(bookings-1)))
	require.Equal(t, "run-"+strconv.Itoa(bookings-MaxEarlierKeys), memo.EarlierKeys.Run(keyed(bookings-MaxEarlierKeys)))
	require.Empty(t, memo.EarlierKeys.Run(keyed(0)), "it is too long ago")

	without := Memo{}.Following(memo, "run")
	require.False(t, without.BookedUnder(nil))
	require.Equal(t, "run", without.EarlierKeys.Run(keyed(bookings)), "a booking without a key hands them on")
}
