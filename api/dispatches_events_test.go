package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Who follows a dispatch is told nothing more once the token is good no longer.
func TestFollowingEndsWithTheToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running := dispatch.View{Status: dispatch.Running}
		d := &desk{views: []dispatch.View{running, running, running, running, running}}
		const good = 2*tuning.EventPause + tuning.EventPause/2
		began := time.Now()
		server := New(Options{
			Dispatches: dispatches.Options{Dispatches: d, Controls: d, Failures: d},
			Timers:     timers.Options{Timers: silent{}, Failures: silent{}},
			Front:      front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: auth.New(nil).WithTokens(until(began.Add(good)))},
		})
		request := httptest.NewRequest(http.MethodGet, here+"/v1/dispatches/reminder/tonight/events", nil)
		request.Header.Set("Authorization", "Bearer a")
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		require.Equal(t, http.StatusOK, answer.Code)
		require.Equal(t, good, time.Since(began))
		require.Equal(t, 3, strings.Count(answer.Body.String(), "event: progress\n"), "at once, and after each pause")
	})
}
