package shared

import (
	"log/slog"
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/quota"
)

// server starts a real Redis at an address. It ends with the test or by stop.
func server(t *testing.T, addr string) (stop func()) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	redis := exec.CommandContext(t.Context(), "redis-server", "--bind", host, "--port", port, "--save", "", "--dir", t.TempDir())
	require.NoError(t, redis.Start())
	stop = func() {
		_ = redis.Process.Kill()
		_ = redis.Wait()
	}
	t.Cleanup(stop)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond, "redis listens")
	return stop
}

func free(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

func on(t *testing.T, addr string) *Limiter {
	t.Helper()
	l, err := New("redis://"+addr+"/3", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}

// taken returns how many of 20 tokens are granted, requested in turn.
func taken(t *testing.T, key string, limit quota.Limit, limiters ...*Limiter) (n int) {
	t.Helper()
	for i := range 20 {
		wait, err := limiters[i%len(limiters)].Allow(t.Context(), key, limit)
		require.NoError(t, err)
		require.LessOrEqual(t, wait, time.Duration(float64(time.Second)/max(limit.Rate, 0.001)))
		if wait == 0 {
			n++
		}
	}
	return n
}

func TestALimitIsSharedAndKept(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a Redis")
	}
	t.Parallel()
	addr := free(t)
	stop := server(t, addr)
	one, other := on(t, addr), on(t, addr)
	slow := quota.Limit{Rate: 0.01, Burst: 6}
	require.Equal(t, 6, taken(t, "a", slow, one, other), "exact over both")
	require.Zero(t, taken(t, "a", slow, one, other))
	require.Equal(t, 6, taken(t, "b", slow, one), "each key has a bucket")
	wait, err := other.Allow(t.Context(), "a", slow)
	require.NoError(t, err)
	require.InDelta(t, 100, wait.Seconds(), 60, "the next token is due when the rate says")
	require.Equal(t, 20, taken(t, "c", quota.Limit{Rate: 1e6, Burst: 1}, one), "tokens come back")
	require.Equal(t, 3, taken(t, "a", quota.Limit{Rate: 0.01, Burst: 9}, one), "a changed limit is in force at once")
	wait, err = one.Allow(t.Context(), "a", quota.Limit{})
	require.NoError(t, err)
	require.Positive(t, wait, "none at all")

	stop()
	require.Equal(t, 12, taken(t, "d", slow, one, other), "each by itself while Redis is away")
	require.True(t, one.down.Load())
	server(t, addr)
	require.Equal(t, 6, taken(t, "d", slow, one, other), "together again, over connections that had ended")
	require.False(t, one.down.Load())
}

func TestURLsOfRedis(t *testing.T) {
	t.Parallel()
	for url, right := range map[string]bool{
		"redis://redis:6379": true, "redis://redis/": true, "redis://redis:6379/0": true, "rediss://:word@redis:6379/12": true,
		"redis://user:p%40ss@[::1]:6379/1": true,
		"":                                 false, "redis:6379": false, "http://redis": false, "redis:///0": false, "redis://redis/zero": false, "redis://redis/0/1": false,
		"redis://redis/0?timeout=1s": false, "redis://redis:port/0": false, "redis://:p%4@redis:6379/0": false, "unix:///run/redis.sock": false,
	} {
		require.Equal(t, right, check(url) == nil, url)
	}
}
