package api

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/bookings"
)

// brokenFor breaks at the booking of one timer.
type brokenFor struct {
	silent
	businessID string
}

func (b brokenFor) Add(_ context.Context, r bookings.Request) (timer.View, bool, error) {
	if r.Key.BusinessID == b.businessID {
		panic("broken") //nolint:forbidigo // it is what is tested
	}
	return timer.View{Key: r.Key}, true, nil
}

// A panic fails its batch, and not the process: the items are booked outside of the goroutine that
// recovers those of a request.
func TestAPanicInABatch(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server := New(Options{
		Timers: apitimers.Options{Timers: brokenFor{businessID: "2"}, Failures: silent{}},
		Front:  front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.NewTextHandler(&log, nil)), Auth: keysOfThree(t)},
	})
	add := func(ids ...string) int {
		items := make([]string, len(ids))
		for i, id := range ids {
			items[i] = `{"business_type":"order","business_id":"` + id + `","delay":"1h"}`
		}
		request := httptest.NewRequest(http.MethodPost, "/v1/timers/batch", strings.NewReader(`{"timers":[`+strings.Join(items, ",")+`]}`))
		request.Header.Set("Authorization", "Bearer secret")
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		return answer.Code
	}
	require.Equal(t, http.StatusInternalServerError, add("1", "2", "3"))
	require.Contains(t, log.String(), "panic: broken")
	require.Equal(t, http.StatusOK, add("1", "3"))
}
