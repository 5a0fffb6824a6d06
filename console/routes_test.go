package console

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every route says who may ask for it, and GET changes nothing.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, r := range routesOf(&Site{}) {
		require.Contains(t, []access{open, signedIn, changing}, r.access, r.path)
		if r.access == changing {
			require.Equal(t, "POST", r.method, r.path)
		}
		if r.method == "POST" && r.access != changing {
			require.Contains(t, []string{"login", "logout", "preferences"}, r.path, "what changes nothing but the browser")
		}
	}
}
