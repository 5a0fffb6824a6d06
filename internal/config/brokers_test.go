package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/config"
)

func brokersIn(t *testing.T, text string) ([]config.Broker, error) {
	name := filepath.Join(t.TempDir(), "brokers.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return config.ReadBrokers(name)
}

func TestBrokers(t *testing.T) {
	t.Setenv("RABBIT_PASSWORD", "p@ss/word")
	found, err := brokersIn(t, `{"brokers": [
		{"name": "main", "url": "amqp://wakecall:${RABBIT_PASSWORD}@127.0.0.1:5672/orders"},
		{"name": "far", "url": "amqps://rabbit.example/", "heartbeat": "30s"},
		{"name": "loud", "url": "AMQPS://rabbit.example/"}]}`)
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.Equal(t, config.Broker{Name: "main", URL: "amqp://wakecall:p@ss%2Fword@127.0.0.1:5672/orders", Heartbeat: 10 * time.Second}, found[0])
	require.Equal(t, 30*time.Second, found[1].Heartbeat)
	require.NotNil(t, found[1].TLS)
	require.NotNil(t, found[2].TLS)
	none, err := config.ReadBrokers("")
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestBadBrokers(t *testing.T) {
	t.Setenv("RABBIT_PASSWORD", "hidden")
	for text, want := range map[string]string{
		`[]`: "form", `{"brokers": [{"nam": "x"}]}`: "form", `{"brokers": [{"url": "amqp://h/"}]}`: "broker 1 needs a unique name",
		`{"brokers": [{"name": "a", "url": "amqp://h/"}, {"name": "a", "url": "amqp://h/"}]}`:      "broker 2 needs a unique name",
		`{"brokers": [{"name": "a", "url": "http://:${RABBIT_PASSWORD}@h/"}]}`:                     "broker a: its url must be",
		`{"brokers": [{"name": "a", "url": "http://u:p$hidden@h/"}]}`:                              "broker a: its url must be",
		`{"brokers": [{"name": "a", "url": "amqp://h/", "tls": {"ca_file": "ca.pem"}}]}`:           "its tls needs an amqps url",
		`{"brokers": [{"name": "a", "url": "amqp://${NOBODY_SETS_THIS}@h/"}]}`:                     "NOBODY_SETS_THIS, which is not set",
		`{"brokers": [{"name": "a", "url": "amqp://h/", "heartbeat": "soon"}]}`:                    "its heartbeat must be from 1s to 5m0s",
		`{"brokers": [{"name": "a", "url": "amqp://h/", "heartbeat": "1ms"}]}`:                     "its heartbeat",
		`{"brokers": [{"name": "a", "url": "amqps://h/", "tls": {"ca_file": "brokers_test.go"}}]}`: "has no certificate in PEM",
		`{"brokers": [{"name": "a", "url": "amqps://h/", "tls": {"key_file": "nowhere"}}]}`:        "certificate_file and key_file",
	} {
		_, err := brokersIn(t, text)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "hidden")
	}
}
