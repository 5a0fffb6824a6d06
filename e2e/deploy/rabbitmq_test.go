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

// The brokers file of both roles opens the RabbitMQ of the profile, and no other login does.
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

// A file may name several brokers, on one line, in any order. RabbitMQ takes the user and
// the password of its own, as its clients read them.
func TestRabbitMQTakesTheLoginOfItsOwnBroker(t *testing.T) {
	t.Parallel()
	const login = "wake%3Acall:p@s%3As%23%22%5C%20%C3%A9'$(x)"
	file := filepath.Join(t.TempDir(), "brokers")
	require.NoError(t, os.WriteFile(file, []byte(`{"brokers": [{"name": "main", "url": "amqp://`+login+`@rabbitmq:5672/"}, `+
		`{"name": "near", "url": "amqp://other:secret@rabbitmq.example:5672/"}, {"name": "far", "url": "amqps://third:secret@rabbitmq/"}]}`), 0o600))
	brokers, err := config.ReadBrokers(file)
	require.NoError(t, err)
	require.Len(t, brokers, 3)
	server := rabbit.StartBy(t, filepath.Join(checkout, "deploy", "rabbitmq.sh"), "BROKERS_FILE="+file)
	conn, err := amqp.Dial("amqp://" + login + "@" + server.Address + "/")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	_, err = amqp.Dial("amqp://other:secret@" + server.Address + "/")
	require.ErrorIs(t, err, amqp.ErrCredentials)
}

func TestRabbitMQRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	tools := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "rabbitmq-server"), []byte("#!/bin/sh\n"), 0o700))
	launch := func(urls ...string) *process.Process {
		file := filepath.Join(t.TempDir(), "brokers")
		require.NoError(t, os.WriteFile(file, []byte(`{"brokers": [{"url": "`+strings.Join(urls, `"}, {"url": "`)+`"}]}`), 0o600))
		return process.Launch(t, process.Command{Path: "/bin/sh", Args: []string{filepath.Join(checkout, "deploy", "rabbitmq.sh")}, Env: map[string]string{
			"PATH": tools + ":" + os.Getenv("PATH"), "BROKERS_FILE": file,
		}})
	}
	for url, want := range map[string]string{
		"": "no broker has a URL", "amqp://u:p@elsewhere/": "no broker has a URL", "amqps://u:p@rabbitmq/": "no broker has a URL",
		"amqp://rabbitmq/": "no user and password", "amqp://u@rabbitmq/": "no user and password", "amqp://u:@rabbitmq/": "no user and password", "amqp://:p@rabbitmq/": "no user and password",
		"amqp://u:${PASSWORD}@rabbitmq/": "write them out", "amqp://u:p%4@rabbitmq/": "as in %40", `amqp://u:\u0040@rabbitmq/`: "as in %40",
	} {
		refused := launch(url)
		require.NotZero(t, refused.Wait(), "%s", url)
		require.Contains(t, refused.Stderr(), want, url)
	}
	require.Contains(t, func() string {
		p := launch("amqp://u:p@rabbitmq/a", "amqp://u:q@rabbitmq/b")
		p.Wait()
		return p.Stderr()
	}(), "different users")
	require.Zero(t, launch("amqp://u:p@rabbitmq/a", "amqp://v:q@elsewhere/", "amqp://u:p@rabbitmq:5672/b").Wait(), "two virtual hosts")
}
