package timers

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// A page begins where the one before has ended, also when time goes on meanwhile.
func TestSpansOfPages(t *testing.T) {
	t.Parallel()
	for _, query := range []url.Values{{}, {"due_from": {"a"}, "due_to": {"b"}}, {"ended_from": {"c"}, "ended_to": {"d"}}} {
		again := url.Values{}
		for name := range query {
			again.Set(name, "another time")
		}
		reopen(again, spansOf(query))
		require.Equal(t, query, again)
	}
	forged := url.Values{}
	reopen(forged, "x!y!z!w!v")
	require.Empty(t, forged, "what was not searched for is not added")
}
