package shared

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/config"
)

func TestAWrongURLIsNamedAndNotShown(t *testing.T) {
	t.Setenv("WAKECALL_REDIS_URL", "http://:hidden@nowhere")
	err := config.Read(new(config.Config), new(Settings))
	require.EqualError(t, err, "WAKECALL_REDIS_URL: must be redis://[user:password@]host:port/db")
	_, err = New("http://:hidden@nowhere", slog.New(slog.DiscardHandler))
	require.Error(t, err)
}

func TestTheURLMayStandInAFile(t *testing.T) {
	const url = "redis://:word@redis:6379/0"
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(url+"\n"), 0o600))
	t.Setenv("WAKECALL_REDIS_URL_FILE", file)
	var s Settings
	require.NoError(t, config.Read(new(config.Config), &s))
	require.Equal(t, url, s.RedisURL)
}

// docs/configuration.md matches the settings, row by row.
func TestDocumentationNamesTheSetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	tag := reflect.TypeFor[Settings]().Field(0).Tag
	require.Contains(t, string(page), fmt.Sprintf("| `%s` |  | %s |", tag.Get("env"), tag.Get("help")))
}
