package trails

import (
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
)

func read(query string) (audit.Query, error) {
	c := echo.New().NewContext(httptest.NewRequest("GET", "/v1/audit?"+query, nil), nil)
	return readQuery(requests.ReadQuery(c, parameters...))
}

// What may be asked for, and what names the parameter that is wrong.
func TestWhatRecordsAreAskedFor(t *testing.T) {
	t.Parallel()
	noon := wire.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	for query, want := range map[string]audit.Query{
		"": {Size: 100},
		"who=anna&business_type=order&operation=" + url.QueryEscape("DELETE /v1/timers/:type/:id") + "&outcome=refused&page_size=5": {
			Size:   5,
			Filter: trail.Filter{Who: "anna", BusinessType: "order", Operation: "DELETE /v1/timers/:type/:id", Outcome: trail.Refused},
		},
		"from=2026-11-21T12:00:00Z&to=2026-11-21T12:00:01Z": {Size: 100, Filter: trail.Filter{From: noon, To: noon + 1000}},
	} {
		got, err := read(query)
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
	for query, pointer := range map[string]string{
		"business_type=A": "business_type", "outcome=lost": "outcome", "from=noon": "from", "page_size=1001": "page_size",
		"from=2026-11-21T12:00:00Z&to=2026-11-21T12:00:00Z": "to", "page_token=x": "page_token", "route=/v1": "route",
	} {
		_, err := read(query)
		require.Equal(t, []string{pointer}, apitest.Pointers(t, err), query)
	}
}

// A page token leads on behind the last record of a page, with the same filter only.
func TestPageTokens(t *testing.T) {
	t.Parallel()
	place := trail.Place{At: 7, ID: "0c7e-a"}
	filter := trail.Filter{Who: "anna"}
	token := url.QueryEscape(requests.SealToken(tokenOf(place), filter))
	query, err := read("who=anna&page_token=" + token)
	require.NoError(t, err)
	require.Equal(t, &place, query.After)
	_, err = read("who=eve&page_token=" + token)
	require.Equal(t, []string{"page_token"}, apitest.Pointers(t, err))
	forged, err := read("who=anna&page_token=" + url.QueryEscape(requests.SealToken([]byte("x"), filter)))
	require.NoError(t, err)
	require.Nil(t, forged.After, "it is the first page")
}
