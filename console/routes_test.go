package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
)

// Every route says who may ask for it, and GET changes nothing.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, r := range routesOf(&site.Site{}) {
		require.Contains(t, []site.Access{site.Open, site.SignedIn, site.Changing}, r.Access, r.Path)
		if r.Access == site.Changing {
			require.Equal(t, "POST", r.Method, r.Path)
		}
		if r.Method == "POST" && r.Access != site.Changing {
			require.Contains(t, []string{"login", "logout", "preferences"}, r.Path, "what changes nothing but the browser")
		}
	}
}
