package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/disk"
	"github.com/wakecall/wakecall/bench/stage"
)

// A power cut keeps what was synced, and nothing else.
func TestAPowerCutKeepsWhatWasSynced(t *testing.T) {
	s := stage.New(t.Context())
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	d, err := disk.New(s)
	if os.Geteuid() != 0 {
		require.ErrorIs(t, err, disk.ErrNotRoot)
		return
	}
	require.NoError(t, err)
	name := filepath.Join(d.Dir, "log")
	log, err := os.Create(name)
	require.NoError(t, err)
	_, err = log.WriteString("synced,")
	require.NoError(t, err)
	require.NoError(t, d.Sync())
	_, err = log.WriteString("written")
	require.NoError(t, err)
	require.NoError(t, log.Close())
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "synced,written", string(text), "the control: the kernel has it")

	require.NoError(t, d.Cut())
	text, err = os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "synced,", string(text))
	require.NoError(t, os.WriteFile(name, []byte("the disk works"), 0o600))
}
