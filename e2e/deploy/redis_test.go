package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// The URL that gateways are given opens the Redis of the profile, and nothing else
// does.
func TestRedisAsksForItsPassword(t *testing.T) {
	t.Parallel()
	settings, _ := process.Settings(t)
	file := secretsOf(settings, "redis_url")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	addr := loopback.Addr()
	services := composed(t).Services
	require.Equal(t, []string{"sh", "/redis.sh"}, []string(services["redis"].Entrypoint))
	server := process.Start(t, process.Command{
		Path: "/bin/sh", Args: []string{filepath.Join(checkout, "deploy", "redis.sh"), "--bind", loopback.Host(), "--port", loopback.Port(addr)},
		Env: map[string]string{"REDIS_URL_FILE": file}, Ready: "tcp://" + addr,
	})
	ping := func(url string) error {
		options, err := redis.ParseURL(url)
		require.NoError(t, err)
		client := redis.NewClient(options)
		defer func() { _ = client.Close() }()
		return client.Ping(t.Context()).Err()
	}
	here := strings.TrimSpace(strings.Replace(string(text), "redis:6379", addr, 1))
	require.NoError(t, ping(here))
	require.ErrorContains(t, ping("redis://:guess@"+addr+"/0"), "WRONGPASS")
	require.ErrorContains(t, ping("redis://"+addr+"/0"), "NOAUTH")
	require.Zero(t, server.Stop(), "it is told to stop, and does")
}
