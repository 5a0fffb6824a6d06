package forecasts

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/forecasts"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// forecastOf reads a question as it is asked half a minute past noon.
func forecastOf(query string) (forecasts.Request, error) {
	c := echo.New().NewContext(httptest.NewRequest("GET", "/v1/forecast?"+query, nil), nil)
	return readRequest(requests.ReadQuery(c, "business_type", "from", "to", "step"), noon.Add(30*time.Second))
}

// A forecast has whole steps, from the present minute on.
func TestWhatAForecastIsAskedFor(t *testing.T) {
	t.Parallel()
	at := func(ahead time.Duration) wire.Instant { return wire.At(noon.Add(ahead)) }
	for query, want := range map[string]forecasts.Request{
		"":                                 {From: at(0), To: at(24 * time.Hour), Step: time.Minute},
		"&step=7m":                         {From: at(0), To: at(206 * 7 * time.Minute), Step: 7 * time.Minute},
		"&step=1s&to=2026-11-21T12:00:40Z": {From: at(30 * time.Second), To: at(40 * time.Second), Step: time.Second},
		"&step=7s&from=2026-11-21T12:00:31.5Z&to=2026-11-21T12:00:40Z": {From: at(31 * time.Second), To: at(45 * time.Second), Step: 7 * time.Second},
		"&step=90s&to=2026-11-21T12:02:00Z":                            {From: at(0), To: at(3 * time.Minute), Step: 90 * time.Second},
		"&to=2026-11-21T12:01:01Z":                                     {From: at(0), To: at(2 * time.Minute), Step: time.Minute},
		"&from=2026-11-21T13:00:59Z&to=2026-11-22T13:00:00Z":           {From: at(time.Hour), To: at(25 * time.Hour), Step: time.Minute},
		"&from=2026-11-21T12:00:00.5Z&step=1h&to=2026-11-22T12:00:00Z": {From: at(0), To: at(24 * time.Hour), Step: time.Hour},
	} {
		want.BusinessType = "order"
		got, err := forecastOf("business_type=order" + query)
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
	for query, pointer := range map[string]string{
		"": "business_type", "business_type=A": "business_type", "business_type=a&step=1500ms": "step", "business_type=a&step=0s": "step",
		"business_type=a&step=soon": "step", "business_type=a&step=721h": "step", "business_type=a&step=1s": "step",
		"business_type=a&from=2026-11-21T11:59:00Z": "from", "business_type=a&from=9026-11-21T11:59:00Z": "from", "business_type=a&from=now": "from",
		"business_type=a&step=1s&to=9999-12-31T23:59:59Z": "step", "business_type=a&to=9999-12-31T23:59:59Z": "step", "business_type=a&from=9998-01-01T00:00:00Z&to=9999-12-31T23:59:59Z": "from",
		"business_type=a&to=2026-11-21T12:00:00Z": "to", "business_type=a&to=": "to", "business_type=a&until=1": "until",
	} {
		_, err := forecastOf(query)
		require.Equal(t, []string{pointer}, apitest.Pointers(t, err), query)
	}
}
