package requests

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/core/timer"
)

// A wrong parameter is named once, and nothing that only follows from it.
func TestOneWrongParameterIsOneComplaint(t *testing.T) {
	t.Parallel()
	const ofADay = "due_from=2030-01-01T00:00:00Z"
	sealed := SealToken([]byte("next"), timer.Filter{DueFrom: 1893456000000})
	for query, want := range map[string][]string{
		"":                                      nil,
		"page_size=0&page_size=1":               {"page_size"},
		"recurring=x&recurring=true":            {"recurring"},
		"status=a;b":                            {"status"},
		"status=a;b&status=x":                   {"status"},
		"status=%zz&status=":                    {"status"},
		"label=A=1&label=b=%20":                 {"label", "label"},
		ofADay + "&page_token=" + sealed:        nil,
		"due_from=x&page_token=" + sealed:       {"due_from"},
		"due_from=a;b&page_token=" + sealed:     {"due_from"},
		"due_from=x&page_token=x":               {"due_from", "page_token"}, // the controls
		"page_token=" + sealed:                  {"page_token"},
		"page_size=0&recurring=x&status=x":      {"status", "page_size", "recurring"},
		ofADay + "&due_to=2029-01-01T00:00:00Z": {"due_to"},
		ofADay + "&due_from=2028-01-01T00:00:00Z&due_to=2029-01-01T00:00:00Z": {"due_from"},
	} {
		c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/?"+query, nil), httptest.NewRecorder())
		q := ReadQuery(c, "status", "recurring", "due_from", "due_to", "page_size", LabelName, PageTokenName)
		OneOf(q, "status", timer.Statuses())
		q.Labels()
		q.Number("page_size", 1, 10)
		q.Flag("recurring")
		filter := timer.Filter{DueFrom: q.Instant("due_from"), DueTo: q.Instant("due_to")}
		q.Errs.Under("", filter.CheckSpans())
		q.PageToken(timer.Filter{DueFrom: filter.DueFrom})
		require.Equal(t, want, apitest.Pointers(t, q.Err()), query)
	}
}
