package delivery

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsWrongWithAURL(t *testing.T) {
	t.Parallel()
	require.NotContains(t, CheckURL("https://example.com/%zz"), "ASCII")
	require.NotContains(t, CheckURL("https://[::1"), "ASCII")
	require.Contains(t, CheckURL("https://example.com/é"), "ASCII")
	require.Contains(t, CheckURL("https://example.com/a b"), "ASCII")
}
