package observe

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// prometheusWith answers each query with the values of two minutes.
func prometheusWith(t *testing.T, values map[string][2]string) (*Prometheus, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		mu.Lock()
		asked = append(asked, query+" "+r.FormValue("start")+" "+r.FormValue("end")+" "+r.FormValue("step"))
		mu.Unlock()
		for part, pair := range values {
			if strings.Contains(query, part) {
				_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1796000460,%q],[1796000520,%q]]}]}}`, pair[0], pair[1])
				return
			}
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"status":"error","error":"what is that?"}`))
	}))
	t.Cleanup(server.Close)
	p, err := NewPrometheus(server.URL)
	require.NoError(t, err)
	return p, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
}

func TestPrometheusKnowsAllProcesses(t *testing.T) {
	t.Parallel()
	p, asked := prometheusWith(t, map[string][2]string{
		"quantile(0.5,": {"0.002", "NaN"}, "quantile(0.99,": {"0.25", "NaN"}, "quantile(1,": {"0.5", "NaN"}, `result="retry"`: {"2.2", "0"}, "sum(increase(wakecall_attempts_total{business_type=~\"a|b\\\\.c\"}": {"11.6", "3"},
	})
	begin := wire.At(time.Unix(1796000400, 0))
	known, err := p.Lateness(t.Context(), []string{"a", "b.c"}, outcomes.Span{From: begin, To: begin.Add(3 * time.Minute), Step: time.Minute})
	require.NoError(t, err)
	require.Len(t, known, 2)
	require.Equal(t, begin, known[0].At, "a value stands at the end of its minute")
	require.EqualValues(t, 12, known[0].Attempts)
	require.EqualValues(t, 2, known[0].Retried)
	require.InDelta(t, 2, *known[0].P50MS, 0.001)
	require.InDelta(t, 250, *known[0].P99MS, 0.001)
	require.InDelta(t, 500, *known[0].WorstMS, 0.001)
	require.Nil(t, known[1].P50MS, "there was no first attempt")
	require.Len(t, asked(), 5)
	for _, query := range asked() {
		require.Contains(t, query, `business_type=~"a|b\\.c"`)
		require.Contains(t, query, "[60s]")
		require.Contains(t, query, begin.Add(time.Minute).String()+" "+begin.Add(3*time.Minute).String()+" 60")
	}
}

// For all types no series is selected by type.
func TestPrometheusIsAskedForAllTypes(t *testing.T) {
	t.Parallel()
	p, asked := prometheusWith(t, map[string][2]string{"": {"1", "1"}})
	begin := wire.At(time.Unix(1796000400, 0))
	_, err := p.Lateness(t.Context(), nil, outcomes.Span{From: begin, To: begin.Add(time.Minute), Step: time.Minute})
	require.NoError(t, err)
	for _, query := range asked() {
		require.NotContains(t, query, "business_type")
		require.NotContains(t, query, "{,")
	}
}

// An infinite value cannot be answered as JSON, so it is as unknown as one that is no number.
func TestPrometheusHasInfiniteValues(t *testing.T) {
	t.Parallel()
	p, _ := prometheusWith(t, map[string][2]string{"quantile(": {"+Inf", "-Inf"}, "attempts_total": {"3", "+Inf"}})
	begin := wire.At(time.Unix(1796000400, 0))
	known, err := p.Lateness(t.Context(), nil, outcomes.Span{From: begin, To: begin.Add(2 * time.Minute), Step: time.Minute})
	require.NoError(t, err)
	require.Equal(t, []outcomes.Lateness{{At: begin, Attempts: 3, Retried: 3}}, known)
}

// The reason that Prometheus gives stands in the log.
func TestPrometheusSaysWhy(t *testing.T) {
	t.Parallel()
	p, _ := prometheusWith(t, nil)
	begin := wire.At(time.Unix(1796000400, 0))
	_, err := p.Lateness(t.Context(), nil, outcomes.Span{From: begin, To: begin.Add(time.Minute), Step: time.Minute})
	require.ErrorContains(t, err, "what is that?")
	require.NotContains(t, err.Error(), "%!")
}

func TestPrometheusIsAway(t *testing.T) {
	t.Parallel()
	p, _ := prometheusWith(t, nil)
	begin := wire.At(time.Unix(1796000400, 0))
	_, err := p.Lateness(t.Context(), nil, outcomes.Span{From: begin, To: begin.Add(time.Minute), Step: time.Minute})
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	_, err = NewPrometheus("://")
	require.Error(t, err)
}

// The same question is asked once in a while, and another one at once. An error is not kept.
func TestPrometheusIsAskedOncePerTick(t *testing.T) {
	t.Parallel()
	p, asked := prometheusWith(t, map[string][2]string{"": {"1", "1"}})
	now := time.Unix(1796000500, 0)
	p.now = func() time.Time { return now }
	begin := wire.At(time.Unix(1796000400, 0))
	span := outcomes.Span{From: begin, To: begin.Add(3 * time.Minute), Step: time.Minute}
	ask := func(types ...string) []outcomes.Lateness {
		known, err := p.Lateness(t.Context(), types, span)
		require.NoError(t, err)
		return known
	}
	first := ask("a")
	require.Equal(t, first, ask("a"))
	require.Len(t, asked(), 5, "five queries are one answer")
	ask("b")
	require.Len(t, asked(), 10)
	now = now.Add(tuning.PrometheusTrusted)
	ask("a")
	require.Len(t, asked(), 15)
	require.Len(t, p.known, 1, "what is old is forgotten")

	away, questions := prometheusWith(t, nil)
	for range 2 {
		_, err := away.Lateness(t.Context(), nil, span)
		require.Error(t, err)
	}
	require.Len(t, questions(), 2)
}
