package receiver_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/receiver"
)

func call(t *testing.T, url, body, due string) int {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set(receiver.DueHeader, due)
	client := &http.Client{Timeout: time.Minute}
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	r, err := receiver.New()
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	begin := time.Now()
	require.Equal(t, http.StatusOK, call(t, r.URL, `{"id":"a"}`, "2026-12-01T12:00:00.5Z"))
	require.Equal(t, http.StatusBadRequest, call(t, r.URL, "nonsense", ""))
	r.Await(t.Context(), []string{"a"})
	gone, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r.Await(gone, []string{"a", "b"})
	require.Error(t, gone.Err(), "b has not rung")
	rings := r.Drain()
	require.Len(t, rings, 1)
	require.WithinRange(t, rings[0].At, begin, time.Now())
	require.Equal(t, time.Date(2026, 12, 1, 12, 0, 0, 5e8, time.UTC), rings[0].Due)
	require.Empty(t, r.Drain())
}

// How many calls the receiver takes over loopback, its own client included:
// far more than any subject makes.
func BenchmarkReceiver(b *testing.B) {
	r, err := receiver.New()
	require.NoError(b, err)
	defer func() { require.NoError(b, r.Close()) }()
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			response, err := client.Post(r.URL, "application/json", strings.NewReader(`{"id":"a"}`))
			if err == nil {
				err = response.Body.Close()
			}
			if err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
