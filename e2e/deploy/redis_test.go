package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// The gateways' URL opens the Redis of the profile, and no other login does.
func TestRedisAsksForItsPassword(t *testing.T) {
	t.Parallel()
	settings, _ := process.Settings(t)
	file := secretsOf(settings, "redis_url")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	addr := loopback.Addr()
	services := composed(t).Services
	require.Equal(t, []string{"sh", "/redis.sh"}, []string(services["redis"].Entrypoint))
	server := runRedis(t, file, addr)
	here := strings.TrimSpace(strings.Replace(string(text), "redis:6379", addr, 1))
	require.NoError(t, ping(t, here))
	require.ErrorContains(t, ping(t, "redis://:guess@"+addr+"/0"), "WRONGPASS")
	require.ErrorContains(t, ping(t, "redis://"+addr+"/0"), "NOAUTH")
	require.Zero(t, server.Stop(), "it is told to stop, and does")
}

func runRedis(t *testing.T, file, addr string) *process.Process {
	t.Helper()
	return process.Start(t, process.Command{
		Path: "/bin/sh", Args: []string{filepath.Join(checkout, "deploy", "redis.sh"), "--bind", loopback.Host(), "--port", loopback.Port(addr)},
		Env: map[string]string{"REDIS_URL_FILE": file}, Ready: "tcp://" + addr,
	})
}

func ping(t *testing.T, url string) error {
	t.Helper()
	conn, err := redis.DialURLContext(t.Context(), url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = conn.Do("PING")
	return err
}

// Redis and the gateways read a URL in the same way.
func TestRedisReadsItsURLAsGatewaysDo(t *testing.T) {
	t.Parallel()
	for _, login := range []string{":p%40ss", ":p@s:s", "default:p%2Fs%23s%25%22%5C%20x", "wakecall:p%40ss", "wake%3Acall%40:%C3%A9", ":a'$(b)"} {
		t.Run(login, func(t *testing.T) {
			t.Parallel()
			file, addr := filepath.Join(t.TempDir(), "redis_url"), loopback.Addr()
			require.NoError(t, os.WriteFile(file, []byte("redis://"+login+"@redis:6379/0\n"), 0o600))
			runRedis(t, file, addr)
			require.NoError(t, ping(t, "redis://"+login+"@"+addr+"/0"))
			require.ErrorContains(t, ping(t, "redis://:guess@"+addr+"/0"), "WRONGPASS")
			require.ErrorContains(t, ping(t, "redis://"+addr+"/0"), "NOAUTH")
		})
	}
}

func TestRedisRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"": "there is no URL", "redis://redis:6379/0": "this Redis needs", "rediss://:pass@redis:6379/0": "this Redis needs",
		"redis://wakecall@redis:6379/0": "no password", "redis://wakecall:@redis:6379/0": "no password", "redis://redis:6379/0@": "no password",
		"redis://:p%4@redis:6379/0": "cannot be read", "redis://:p%zz@redis:6379/0": "cannot be read", "redis://:p\"ss@redis:6379/0": "cannot be read",
	} {
		file := filepath.Join(t.TempDir(), "redis_url")
		require.NoError(t, os.WriteFile(file, []byte(url), 0o600))
		refused := process.Launch(t, process.Command{
			Path: "/bin/sh", Args: []string{filepath.Join(checkout, "deploy", "redis.sh"), "--port", "-1"}, Env: map[string]string{"REDIS_URL_FILE": file},
		})
		require.NotZero(t, refused.Wait(), "%s", url)
		require.Contains(t, refused.Stderr(), file+": ", url)
		require.Contains(t, refused.Stderr(), want, url)
	}
}
