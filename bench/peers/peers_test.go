package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver is a server that passes on the ids of what rings.
func receiver(t *testing.T) (url string, rung <-chan string) {
	ids := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			ID string `json:"id"`
		}
		if json.NewDecoder(r.Body).Decode(&body) == nil {
			ids <- body.ID
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, ids
}

// await returns the ids of the next rings.
func await(t *testing.T, rung <-chan string, n int) (ids []string) {
	t.Helper()
	for range n {
		select {
		case id := <-rung:
			ids = append(ids, id)
		case <-time.After(time.Minute):
			require.FailNow(t, "timers do not ring", "%d of %d did", len(ids), n)
		}
	}
	return ids
}

// Each peer rings what a process before it has booked.
func TestPeersRingAfterARestart(t *testing.T) {
	for name, start := range makers {
		t.Run(name, func(t *testing.T) {
			url, rung := receiver(t)
			dir := t.TempDir()
			s := settings{receiver: url, dir: dir, database: "sqlite:" + filepath.Join(dir, "dbos.db")}
			first, err := start(t.Context(), s)
			require.NoError(t, err)
			due := time.Now().Add(2 * time.Second)
			var timers []timer
			for i := range 5 {
				timers = append(timers, timer{ID: fmt.Sprint("t-", i), Due: due})
			}
			booked, err := first.add(t.Context(), timers)
			require.NoError(t, err)
			require.Equal(t, len(timers), booked)
			_ = first.close() // DBOS says that workflows still sleep
			require.Empty(t, rung, "nothing rings before it is due")

			second, err := start(t.Context(), s)
			require.NoError(t, err)
			ids := await(t, rung, len(timers))
			require.False(t, time.Now().Before(due), "nothing rings early")
			require.ElementsMatch(t, []string{"t-0", "t-1", "t-2", "t-3", "t-4"}, ids)
			require.NoError(t, second.close())
		})
	}
}

// scripted is a peer with a fixed answer.
type scripted struct {
	booked int
	err    error
}

func (s scripted) add(context.Context, []timer) (int, error) { return s.booked, s.err }

func (scripted) close() error { return nil }

func TestBookingsAreAnswered(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]scripted{
		`{"Booked":2}`:                          {booked: 2},
		`{"Booked":1,"Error":"disk is broken"}`: {booked: 1, err: fmt.Errorf("disk is %s", "broken")},
	} {
		answer := httptest.NewRecorder()
		body := strings.NewReader(`[{"ID":"a","Due":"2026-01-02T03:04:05Z"},{"ID":"b","Due":"2026-01-02T03:04:05Z"}]`)
		handler(p).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/timers", body))
		require.Equal(t, http.StatusOK, answer.Code)
		require.JSONEq(t, want, answer.Body.String())
	}
	answer := httptest.NewRecorder()
	handler(scripted{}).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/timers", strings.NewReader("nonsense")))
	require.Equal(t, http.StatusBadRequest, answer.Code)
}

func TestUnknownPeerIsRefused(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, command(t.Context(), []string{"nobody"}), "nats-always")
	require.Error(t, command(t.Context(), nil))
}
