package roles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that is named must be there: without it the process would go to another Temporal.
func TestANamedConfigurationFileIsThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "temporal.toml")
	t.Setenv(configFile, file)
	_, err := FromEnvironment()
	require.ErrorContains(t, err, configFile+": stat "+file)
	require.NoError(t, os.WriteFile(file, []byte("[profile.default]\naddress = \"temporal:7233\"\n"), 0o600))
	options, err := FromEnvironment()
	require.NoError(t, err)
	require.Equal(t, "temporal:7233", options.HostPort)
}
