package operations

import (
	"log/slog"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/quota/shared"
)

// redis starts a real Redis, which ends with the test.
func redis(t *testing.T) (url string, stop func()) {
	t.Helper()
	addr := loopback.Addr()
	server := exec.CommandContext(t.Context(), "redis-server", "--bind", loopback.Host(), "--port", loopback.Port(addr), "--save", "", "--dir", t.TempDir())
	require.NoError(t, server.Start())
	stop = func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}
	t.Cleanup(stop)
	require.Eventually(t, func() bool { return loopback.Listening(addr) }, testenv.Patience, 20*time.Millisecond, "redis listens")
	return "redis://" + addr + "/0", stop
}

// With Redis all gateways together keep to a limit; without it each does by
// itself. When Redis goes away, booking goes on under the latter.
func TestGatewaysShareALimit(t *testing.T) {
	t.Parallel()
	r, kind := receiver.New(t), sample.Type(t)
	url, stop := redis(t)
	gateways := []*testenv.Env{testenv.OpenLimited(t, testenv.Addr, limiter(t, url)), testenv.OpenLimited(t, testenv.Addr, limiter(t, url))}
	limit := testenv.JSON{"adds_per_second": 0.01, "adds_burst": 6}
	gateways[0].Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "limits": limit})
	require.Equal(t, 6, taken(t, gateways, kind), "exact over both")
	stop()
	require.Equal(t, 12, taken(t, gateways, kind), "each by itself")
	alone := []*testenv.Env{testenv.Open(t, testenv.Addr), testenv.Open(t, testenv.Addr)}
	require.Equal(t, 12, taken(t, alone, kind))
}

// limiter is that of one gateway.
func limiter(t *testing.T, url string) *shared.Limiter {
	l, err := shared.New(url, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}

// taken is how many of 20 bookings, spread over the gateways, are taken.
func taken(t *testing.T, gateways []*testenv.Env, kind string) (n int) {
	for i := range 20 {
		id := time.Now().Format("150405.000000000")
		reply := gateways[i%len(gateways)].Do("POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": id, "delay": "1h"})
		if reply.Status == http.StatusCreated {
			n++
		} else {
			require.Equal(t, http.StatusTooManyRequests, reply.Status)
		}
	}
	return n
}
