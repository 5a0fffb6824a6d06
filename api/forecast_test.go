package api

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// How old a forecast may be stands in the contract and on the page.
func TestTheAgeOfForecastsIsOfTheCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/timers.md")
	require.NoError(t, err)
	for _, text := range []string{string(OpenAPI), string(page)} {
		words := strings.ToLower(strings.Join(strings.Fields(text), " "))
		require.Contains(t, words, fmt.Sprintf("an answer is up to %.0f seconds old, or up to %.0f minutes where counting takes long",
			tuning.ForecastFresh.Seconds(), tuning.ForecastStale.Minutes()))
	}
}
