package timer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestTagNamesOneRevisionOfOneBooking(t *testing.T) {
	t.Parallel()
	memo := timer.Memo{Booking: "b-1", Revision: 3}
	other := timer.Memo{Booking: "b-2", Revision: 3}
	later := timer.Memo{Booking: "b-1", Revision: 13}
	require.Regexp(t, `^3-[0-9a-f]{8}$`, memo.Tag())
	for _, tag := range []string{"", "*", "3", memo.Tag()} {
		require.True(t, memo.MatchesTag(tag), tag)
	}
	for _, tag := range []string{"2", "13", "03", "3-", other.Tag(), later.Tag()} {
		require.False(t, memo.MatchesTag(tag), tag)
	}
	require.True(t, other.MatchesTag("3"), "a revision alone is of any booking")
}

func TestChangeIsMadeOnWhatItNames(t *testing.T) {
	t.Parallel()
	spec, err := timer.Admit(key, timer.Terms{Delay: in(0)}, "b-1", noon)
	require.NoError(t, err)
	change := timer.Change{Terms: timer.Terms{Priority: ptr(1)}, At: wire.At(noon), IfMatch: spec.Tag()}
	changed, err := spec.Apply(change)
	require.NoError(t, err)
	require.Equal(t, 2, changed.Revision)
	for name, on := range map[string]timer.Spec{"a later revision": changed, "another booking": {Key: key, Memo: timer.Memo{Booking: "b-2", Revision: 1}}} {
		_, err = on.Apply(change)
		require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err), name)
		require.Equal(t, []string{"If-Match"}, pointers(err), name)
	}
	change.IfMatch = ""
	_, err = changed.Apply(change)
	require.NoError(t, err, "without a word any is fine, as in every change of the past")
}
