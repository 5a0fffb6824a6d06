package outcomes

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	engine "github.com/wakecall/wakecall/engine/outcomes"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// asked reads a question as it is asked half a minute past noon.
func asked(query string) (engine.Request, error) {
	c := echo.New().NewContext(httptest.NewRequest("GET", "/v1/outcomes?"+query, nil), nil)
	return readRequest(requests.ReadQuery(c, "business_type", "from", "to", "step"), noon.Add(30*time.Second))
}

// Outcomes have whole steps of whole minutes, the last of which has the end in it.
func TestWhatOutcomesAreAskedFor(t *testing.T) {
	t.Parallel()
	at := func(ahead time.Duration) wire.Instant { return wire.At(noon.Add(ahead)) }
	for query, want := range map[string]engine.Request{
		"":                                  {Span: outcomes.Span{From: at(-time.Hour), To: at(time.Minute), Step: time.Minute}},
		"business_type=a":                   {BusinessType: "a", Span: outcomes.Span{From: at(-time.Hour), To: at(time.Minute), Step: time.Minute}},
		"from=2026-11-20T11:00:29Z&step=1h": {Span: outcomes.Span{From: at(-25 * time.Hour), To: at(time.Hour), Step: time.Hour}},
		"from=2026-11-20T11:00:59Z&to=2026-11-20T11:02:00Z": {Span: outcomes.Span{From: at(-25 * time.Hour), To: at(-25*time.Hour + 2*time.Minute), Step: time.Minute}},
		"step=7m":                           {Span: outcomes.Span{From: at(-time.Hour), To: at(-time.Hour + 9*7*time.Minute), Step: 7 * time.Minute}},
		"to=2026-11-21T11:00:00Z":           {Span: outcomes.Span{From: at(-2 * time.Hour), To: at(-time.Hour), Step: time.Minute}},
		"from=2026-11-20T12:00:00Z&step=1h": {Span: outcomes.Span{From: at(-24 * time.Hour), To: at(time.Hour), Step: time.Hour}},
	} {
		got, err := asked(query)
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
	for query, pointer := range map[string]string{
		"business_type=A": "business_type", "step=90s": "step", "step=0s": "step", "step=26h": "step", "step=soon": "step",
		"from=2026-11-20T10:59:00Z": "from", "to=2026-11-20T10:59:00Z": "to", "to=2026-11-21T12:00:31Z": "to", "from=2026-11-21T12:00:00Z&to=2026-11-21T12:00:00Z": "to",
		"until=1": "until",
	} {
		_, err := asked(query)
		require.Equal(t, []string{pointer}, apitest.Pointers(t, err), query)
	}
}
