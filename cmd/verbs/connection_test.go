package verbs

import (
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/cmd/program"
)

// docs/configuration.md matches the settings, row by row.
func TestDocumentationNamesEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	settings := reflect.TypeFor[Settings]()
	for i := range settings.NumField() {
		tag := settings.Field(i).Tag
		fallback := tag.Get("envDefault")
		if fallback != "" {
			fallback = "`" + fallback + "`"
		}
		require.Contains(t, string(page), fmt.Sprintf("| `%s` | %s | %s |", tag.Get("env"), fallback, tag.Get("help")))
	}
}

// A URL without a scheme is a usage error, from any source.
func TestAURLWithoutAScheme(t *testing.T) {
	for _, url := range []string{"127.0.0.1:8080", "localhost", "ftp://h", "http://", "://"} {
		exit, _, complaint := run(t, false, "list", "--server", url)
		require.Equal(t, program.ExitUsage, exit, url)
		require.Contains(t, complaint, "--server must be a URL such as http://127.0.0.1:8080", url)
		t.Setenv("WAKECALL_URL", url)
		exit, _, complaint = run(t, false, "list")
		require.Equal(t, program.ExitUsage, exit, url)
		require.Contains(t, complaint, "WAKECALL_URL must be a URL", url)
	}
}

// A key that no request can carry is a usage error, and is not repeated.
func TestAKeyThatCannotBeSent(t *testing.T) {
	url, asked := fixed(t, 200, map[string]any{})
	for _, key := range []string{"wck_s3cret\n", "wck_\x00s3cret"} {
		exit, _, complaint := run(t, false, "list", "--server", url, "--key", key)
		require.Equal(t, program.ExitUsage, exit)
		require.Contains(t, complaint, "the API key must be one line")
		require.NotContains(t, complaint, "s3cret")
	}
	t.Setenv("WAKECALL_API_KEY", "wck_s3cret\r")
	exit, _, _ := run(t, false, "list", "--server", url)
	require.Equal(t, program.ExitUsage, exit)
	require.Empty(t, *asked)
}
