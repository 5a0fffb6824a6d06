package problems

import (
	"testing"

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
