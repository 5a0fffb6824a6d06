package witness

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func call(ctx context.Context, w *Witness, attempt string, orders Orders) (status int, err error) {
	body, err := json.Marshal(orders)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{
		"Wakecall-Business-Id": orders.Timer, "webhook-id": "w-" + orders.Timer, "Wakecall-Attempt": attempt, "Wakecall-Revision": "2",
	} {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func TestDoesAsOrdered(t *testing.T) {
	w := New(t)
	orders := Orders{Timer: "a", Refuse: 1, Hold: 20}
	began := time.Now()
	for attempt, want := range map[string]int{"1": 500, "2": 200} {
		status, err := call(t.Context(), w, attempt, orders)
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
	arrivals, err := w.Arrivals()
	require.NoError(t, err)
	require.Len(t, arrivals, 2)
	for _, a := range arrivals {
		require.Equal(t, "a", a.ID)
		require.Equal(t, "w-a", a.WebhookID)
		require.Equal(t, 2, a.Revision)
		require.Equal(t, arrivals[0].Body, a.Body)
		require.Equal(t, map[int]int{1: 500, 2: 200}[a.Attempt], a.Status)
		require.WithinRange(t, a.At, began, time.Now())
		require.GreaterOrEqual(t, a.Answered.Sub(a.At), 20*time.Millisecond)
	}
	require.Equal(t, 2, w.Count())
}

// The log contains the request of a caller that died: the receiver got it.
func TestWritesBeforeItAnswers(t *testing.T) {
	w := New(t)
	ctx, die := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := call(ctx, w, "1", Orders{Timer: "a", Hold: 60_000}); done <- err }()
	require.Eventually(t, func() bool { return w.Held() == 1 }, 5*time.Second, time.Millisecond, "the caller is held")
	arrivals, err := w.Arrivals()
	require.NoError(t, err)
	require.Len(t, arrivals, 1)
	require.True(t, arrivals[0].Answered.IsZero())
	die()
	require.Error(t, <-done)
	require.Eventually(t, func() bool { return w.Held() == 0 }, 5*time.Second, time.Millisecond, "the hold ends with its caller")
}

func TestManyAtOnce(t *testing.T) {
	w := New(t)
	const n = 200
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			status, err := call(t.Context(), w, "1", Orders{Timer: "a"})
			if err != nil || status != http.StatusOK {
				t.Errorf("%d %v", status, err)
			}
		})
	}
	calls.Wait()
	arrivals, err := w.Arrivals()
	require.NoError(t, err)
	require.Len(t, arrivals, n)
}

// An unreadable line must not pass for the end of the log. One that is being written is not read.
func TestTornJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "torn")
	const whole, torn = "{\"n\":1}\n", "{\"n\":"
	require.NoError(t, os.WriteFile(path, []byte(whole+torn), 0o600))
	seen := 0
	require.Error(t, readJournal(path, int64(len(whole+torn)), func(entry) { seen++ }))
	require.Equal(t, 1, seen)
	require.NoError(t, readJournal(path, int64(len(whole)), func(entry) { seen++ }))
	require.Equal(t, 2, seen)
}
