package oidc_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// The page on sign-in is up to date.
func TestThePageOnSignIn(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile("../../docs/" + name)
		require.NoError(t, err)
		return strings.Join(strings.Fields(string(text)), " ")
	}
	page, model := read("sign-in.md"), read("threat-model.md")
	require.Contains(t, page, fmt.Sprintf("Keys are fetched every %.0f minutes,", tuning.KeysRefresh.Minutes()))
	require.Contains(t, page, fmt.Sprintf("at most every %.0f seconds.", tuning.KeysRetry.Seconds()))
	require.Contains(t, page, fmt.Sprintf("until it expires, %d,%03d of them at most", tuning.VerifiedTokens/1000, tuning.VerifiedTokens%1000))
	require.Contains(t, model, fmt.Sprintf("refused within %.0f minutes", tuning.KeysRefresh.Minutes()))
	require.Contains(t, model, fmt.Sprintf("asked once in %.0f s", tuning.KeysRetry.Seconds()))
	require.Contains(t, model, fmt.Sprintf("%d KiB, %.0f s, not followed", tuning.ProviderBytes>>10, tuning.ProviderTimeout.Seconds()))
}
