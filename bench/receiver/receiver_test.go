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
	rings := r.Take()
	require.Len(t, rings, 1)
	require.WithinRange(t, rings[0].At, begin, time.Now())
	require.Equal(t, time.Date(2026, 12, 1, 12, 0, 0, 5e8, time.UTC), rings[0].Due)
	require.Empty(t, r.Take())
}
