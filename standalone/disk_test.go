package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/health"
)

// The check of the disk has the size of the data directory, and says where it cannot be read.
func TestTheDiskIsChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "below"), 0o700))
	for _, name := range []string{"temporal.db", "below/wal"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, 3<<19), 0o600))
	}
	found := settings{DataDir: dir}.checkDisk(t.Context())
	require.Equal(t, "disk", found.Name)
	require.Contains(t, found.Detail, dir+" has 3 MiB, and ")
	gone := settings{DataDir: filepath.Join(dir, "gone")}.checkDisk(t.Context())
	require.Equal(t, health.Unknown, gone.Status)
	require.NotEmpty(t, gone.Detail)
}
