package objectives

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/ledger"
)

// What may be asked for, and what names the parameter that is wrong.
func TestWhatAReportIsAskedFor(t *testing.T) {
	t.Parallel()
	read := func(query string) (ledger.Request, error) {
		c := echo.New().NewContext(httptest.NewRequest("GET", "/v1/slo?"+query, nil), nil)
		return readRequest(requests.ReadQuery(c, "business_type", "window", "target"))
	}
	for query, want := range map[string]ledger.Request{
		"":                               {Window: 30 * 24 * time.Hour, Target: 0.999},
		"business_type=a&window=1h":      {BusinessType: "a", Window: time.Hour, Target: 0.999},
		"window=30d&target=0.5":          {Window: 30 * 24 * time.Hour, Target: 0.5},
		"window=720h&target=0.999999999": {Window: 30 * 24 * time.Hour, Target: 0.999999999},
	} {
		got, err := read(query)
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
	for query, pointer := range map[string]string{
		"business_type=A": "business_type", "window=59m": "window", "window=31d": "window", "window=month": "window", "window=-1h": "window", "window=": "window",
		"target=0": "target", "target=1": "target", "target=NaN": "target", "target=99.9": "target", "target=-0.1": "target", "target=high": "target", "since=1h": "since",
	} {
		_, err := read(query)
		require.Equal(t, []string{pointer}, apitest.Pointers(t, err), query)
	}
}

// counted are ledgers with one report.
type counted struct{ report slo.Report }

func (c counted) Read(context.Context, ledger.Request, func(string) bool) (ledger.Reports, error) {
	return ledger.Reports{BusinessTypes: []slo.Report{c.report}}, nil
}

// A caller that prefers CSV gets a line for each type; what is not known is empty there.
func TestReportsAsCSV(t *testing.T) {
	t.Parallel()
	share, worst := 0.75, int64(1204)
	h := handlers{counted{slo.Report{
		BusinessType: "order", From: wire.At(time.Unix(1_800_000_000, 0)), To: wire.At(time.Unix(1_800_003_600, 0)),
		Objective: slo.Objective{OnTime: wire.Duration(time.Second), Target: 0.99, JudgedBy: slo.Promise(time.Hour).And(slo.Promise(10 * time.Millisecond))},
		Share:     &share, WorstMS: &worst, Booked: 5, Rung: 4, OnTime: 3, Unsent: 1,
	}}}
	answer := func(accept string) *httptest.ResponseRecorder {
		request, recorder := httptest.NewRequest(http.MethodGet, "/v1/slo", nil), httptest.NewRecorder()
		request.Header.Set("Accept", accept)
		require.NoError(t, h.reports(echo.New().NewContext(request, recorder)))
		return recorder
	}
	for _, accept := range []string{"text/csv", "text/csv; q=1, */*"} {
		csv := answer(accept)
		require.Contains(t, csv.Header().Get("Content-Type"), "text/csv")
		require.Equal(t, "business_type,from,to,on_time_within,target,share,p50_ms,p99_ms,worst_ms,budget_left,booked,bytes,rung,on_time,missed,delivered,failed,expired,attempts,open,judged_by_shortest,judged_by_longest,unsent\n"+
			"order,2027-01-15T08:00:00.000Z,2027-01-15T09:00:00.000Z,1s,0.99,0.75,,,1204,,5,0,4,3,0,0,0,0,0,,10ms,1h,1\n", csv.Body.String())
	}
	for _, accept := range []string{"", "application/json", "application/json, text/csv", "*/*", ";;", "text/csv;q=0", "text/csv; q=0.000, */*"} {
		require.Contains(t, answer(accept).Header().Get("Content-Type"), "application/json", accept)
	}
}
