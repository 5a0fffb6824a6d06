package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// The file that both roles are given opens the RabbitMQ of the profile, and nothing else
// does.
func TestRabbitMQAsksForItsPassword(t *testing.T) {
	t.Parallel()
	settings, _ := process.Settings(t)
	file := secretsOf(settings, "brokers")
	brokers, err := config.ReadBrokers(file)
	require.NoError(t, err, "the roles can read what deploy/env.sh made")
	require.Len(t, brokers, 1)
	require.Equal(t, "main", brokers[0].Name)
	text, err := os.ReadFile(file)
	require.NoError(t, err)

	services := composed(t).Services
	require.Equal(t, []string{"sh", "/rabbitmq.sh"}, []string(services["rabbitmq"].Entrypoint))
	require.Equal(t, "/run/secrets/brokers", *services["rabbitmq"].Environment["BROKERS_FILE"])
	server := rabbit.StartBy(t, filepath.Join(checkout, "deploy", "rabbitmq.sh"), "BROKERS_FILE="+file)
	here := strings.Replace(brokers[0].URL, "rabbitmq:5672", server.Address, 1)
	require.NotEqual(t, brokers[0].URL, here, "%s", text)
	conn, err := amqp.Dial(here)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	for _, wrong := range []string{"amqp://guest:guest@", "amqp://wakecall:guess@"} {
		_, err := amqp.Dial(wrong + server.Address + "/")
		require.ErrorIs(t, err, amqp.ErrCredentials)
	}
}
