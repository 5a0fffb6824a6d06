package problems

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
)

// Every status is one of an error, and every problem has a title.
func TestTheTableIsWhole(t *testing.T) {
	t.Parallel()
	for code, known := range table {
		document := DocumentOf(&wire.Error{Code: code})
		require.Equal(t, known.status, document.Status, code)
		require.NotEmpty(t, document.Title, code)
		require.True(t, known.status >= 400 && known.status < 600, code)
	}
	require.Equal(t, 500, DocumentOf(nil).Status, "an error that is not ours")
}

// The wait before another try is a whole number of seconds, rounded up.
func TestTheWaitBeforeAnotherTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  *wire.Error
		want time.Duration
	}{
		{&wire.Error{Code: wire.QuotaExceeded, Quota: &wire.Quota{}}, time.Second},
		{&wire.Error{Code: wire.QuotaExceeded, Quota: &wire.Quota{RetryAfter: 2 * time.Second}}, 2 * time.Second},
		{&wire.Error{Code: wire.QuotaExceeded, Quota: &wire.Quota{RetryAfter: 2*time.Second + 1}}, 3 * time.Second},
		{&wire.Error{Code: wire.Unavailable}, time.Second},
		{&wire.Error{Code: wire.NotFound}, 0},
	} {
		require.Equal(t, c.want, DocumentOf(c.err).RetryAfter.D(), c.err)
	}
}
