package embedded

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/dynamicconfig"

	"github.com/wakecall/wakecall/deploy"
)

func options(t *testing.T) Options {
	return Options{
		Addr: "127.0.0.1:1", DataDir: t.TempDir(), Namespace: "default", Retention: time.Hour, Shards: 4, Synchronous: "full",
	}
}

func opened(t *testing.T, o Options) *directory {
	d, err := openDirectory(o)
	require.NoError(t, err)
	return d
}

func TestDirectoryIsMadeOnceAndFoundAgain(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o).close()
	opened(t, o).close()
}

func TestAnotherBirthIsRefused(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o).close()
	other := o
	other.Shards = 8
	_, err := openDirectory(other)
	require.ErrorContains(t, err, "4 history shards")
	require.NotContains(t, err.Error(), "\n", "one clear line")

	file := filepath.Join(o.DataDir, birthFile)
	require.NoError(t, os.WriteFile(file, []byte(`{"schema":"0.10","visibility_schema":"0.1","history_shards":4}`), 0o600))
	_, err = openDirectory(o)
	require.ErrorContains(t, err, "schema 0.10")
	require.NoError(t, os.WriteFile(file, []byte(`{`), 0o600))
	_, err = openDirectory(o)
	require.ErrorContains(t, err, "damaged")
	require.NoError(t, os.Remove(file))
	_, err = openDirectory(o)
	require.ErrorContains(t, err, "is not Wakecall's")
}

func TestDirectoryIsLocked(t *testing.T) {
	t.Parallel()
	o := options(t)
	d := opened(t, o)
	_, err := openDirectory(o)
	require.ErrorContains(t, err, "in use")
	d.close()
	opened(t, o).close()
}

// A careless configuration would use keys with an underscore. SQLite ignores them silently, and
// the read-back must detect it.
func TestIgnoredPragmasAreSeen(t *testing.T) {
	t.Parallel()
	o := options(t)
	opened(t, o).close()
	require.NoError(t, readBack(o))
	careless := sqlite(o, mainStore)
	careless.ConnectAttributes = map[string]string{"mode": "rwc", "_synchronous": "off"}
	require.ErrorContains(t, expectPragma(careless, "synchronous", "0"), "synchronous=0")
	require.ErrorContains(t, expectPragma(sqlite(o, mainStore), "journal_mode", "delete"), "journal_mode=delete")
}

func TestDynamicConfigurationIsUnderstood(t *testing.T) {
	t.Parallel()
	tuning := dynamicconfig.LoadYamlFile(deploy.DynamicConfig)
	require.NoError(t, tuning.Err())
	require.Empty(t, tuning.Warnings, "a key that Temporal does not know, or a value of another type")
	control := dynamicconfig.LoadYamlFile([]byte("history.noSuchKey:\n  - value: 1\n"))
	require.NotEmpty(t, append(control.Warnings, control.Errors...), "the oracle sees an unknown key")
}
