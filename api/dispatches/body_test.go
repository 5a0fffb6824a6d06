package dispatches

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An item of a dispatch that holds half of a character is said to.
func TestUnreadableItems(t *testing.T) {
	t.Parallel()
	_, errs := readItem([]byte(`{"id":"1","payload":{"a":"\udead"}}`))
	require.Len(t, errs, 1)
	require.Contains(t, errs[0].Detail, `a lone surrogate, \udead, which is half of a character, at /payload/a`)
}
