package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
)

// spent is what a piece of work costs: the bytes that it allocates and its processor time.
func spent(t *testing.T, work func()) (allocated uint64, cpu time.Duration) {
	t.Helper()
	var before, after runtime.MemStats
	used := func() time.Duration {
		var usage syscall.Rusage
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	runtime.ReadMemStats(&before)
	began := used()
	work()
	cpu = used() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, cpu
}

// A body that is refused costs processor time linear in its size, and at most eight times its
// size in memory.
func TestWhatARefusedBodyCosts(t *testing.T) { // it counts what the whole process allocates
	server := New(Options{Auth: auth.Anyone(), Timers: silent{}, Failures: silent{}, Telemetry: uncounted{}, Logger: slog.New(slog.DiscardHandler)})
	ones := func(n int) string { return strings.TrimSuffix(strings.Repeat("1,", n), ",") }
	timers := func(more string) string {
		return `{"business_type":"x","business_id":"1","delay":"1h",` + more + `}`
	}
	for name, c := range map[string]struct{ path, body string }{
		"a batch of eight million":     {"/v1/timers/batch", `{"timers":[` + ones(8_000_000) + `]}`},
		"a batch with a long name":     {"/v1/timers/batch", `{"timers":[],"` + strings.Repeat("x", 15<<20) + `":1}`},
		"a batch of empty objects":     {"/v1/timers/batch", `{"timers":[` + strings.TrimSuffix(strings.Repeat("{},", 5_000_000), ",") + `]}`},
		"a ladder":                     {"/v1/timers", timers(`"retry":{"steps":[` + ones(60_000) + `]}`)},
		"moments":                      {"/v1/timers", `{"business_type":"x","business_id":"1","recurrence":{"at":[` + ones(60_000) + `]}}`},
		"exclusions":                   {"/v1/timers", `{"business_type":"x","business_id":"1","recurrence":{"every":"1h","exclude":[` + ones(60_000) + `]}}`},
		"unknown names":                {"/v1/timers", `{` + names(9000) + `}`},
		"labels":                       {"/v1/timers", timers(`"labels":{` + names(9000) + `}`)},
		"headers":                      {"/v1/timers", timers(`"callback":{"url":"http://127.0.0.1/","headers":{` + names(9000) + `}}`)},
		"a dispatch of wrong items":    {"/v1/dispatches", `{"business_type":"x","business_id":"1","per_second":1,"items":[` + ones(1_000_000) + `]}`},
		"a dispatch of unlike items":   {"/v1/dispatches", `{"business_type":"x","business_id":"1","per_second":1,"items":[` + strings.TrimSuffix(strings.Repeat(`{"id":1},`, 1000), ",") + `]}`},
		"a dispatch with a wrong step": {"/v1/dispatches", `{"business_type":"x","business_id":"1","per_second":1,"retry":{"steps":[` + ones(1_000_000) + `]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
			request.Header.Set("Content-Type", "application/json")
			request.Host = "localhost"
			answer := httptest.NewRecorder()
			allocated, cpu := spent(t, func() { server.Handler().ServeHTTP(answer, request) })
			require.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, answer.Code, "%.200s", answer.Body)
			require.Less(t, answer.Body.Len(), 64<<10)
			room := uint64(8*len(c.body) + 6<<20) // what a small body costs is bounded by its own limit
			require.LessOrEqual(t, allocated, room, "%d times its size", allocated/uint64(len(c.body)))
			require.Less(t, cpu, 10*time.Second, "a race detector takes ten times as long")
		})
	}
}

func names(n int) string {
	var text bytes.Buffer
	for i := range n {
		fmt.Fprintf(&text, `"n%d":1,`, i)
	}
	return strings.TrimSuffix(text.String(), ",")
}

// The oracle sees what costs too much.
func TestTheCostOfGrowingIsSeen(t *testing.T) {
	allocated, _ := spent(t, func() {
		var all [][]byte
		for range 1000 {
			all = append(all, make([]byte, 16<<10))
		}
		runtime.KeepAlive(all)
	})
	require.Greater(t, allocated, uint64(8<<20))
}
