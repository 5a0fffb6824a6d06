package deploy_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// backups is a directory that deploy/backup.sh copies into. Its pg_basebackup copies
// nothing, after it has read the file GATE to its end.
type backups struct {
	t          *testing.T
	dir, tools string
}

func newBackups(t *testing.T, there ...string) backups {
	b := backups{t: t, dir: t.TempDir(), tools: t.TempDir()}
	for _, name := range there {
		require.NoError(t, os.Mkdir(filepath.Join(b.dir, name), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(b.tools, "pg_basebackup"),
		[]byte("#!/bin/sh\nmkdir \"$2\" && cat \"$GATE\" && echo | gzip >\"$2/base.tar.gz\"\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(b.tools, "password"), []byte("secret\n"), 0o600))
	return b
}

// launch begins a backup that keeps so many.
func (b backups) launch(keep, gate string) *process.Process {
	return process.Launch(b.t, process.Command{Path: "/bin/sh", Args: []string{filepath.Join(checkout, "deploy", "backup.sh")}, Env: map[string]string{
		"PATH": b.tools + ":" + os.Getenv("PATH"), "BACKUP_DIR": b.dir, "BACKUP_KEEP": keep, "PGPASSWORD_FILE": filepath.Join(b.tools, "password"), "GATE": gate,
	}})
}

func (b backups) left() (names []string) {
	found, err := filepath.Glob(filepath.Join(b.dir, "[^.]*")) // except its lock
	require.NoError(b.t, err)
	for _, file := range found {
		names = append(names, filepath.Base(file))
	}
	return names
}

// The newest backups are kept, and what is none. A number that would keep no backup, and so remove
// the new one, is refused.
func TestBackupsThatAreKeptAreCounted(t *testing.T) {
	t.Parallel()
	there := []string{"2026-01-01T000000Z", "2026-01-02T000000Z", "2026-01-03T000000Z", "mine"}
	b := newBackups(t, there...)
	for _, keep := range []string{"0", "00", "-1", "+1", "", " 1", "1 ", "seven", "7d", "1.5", "08", "99999999999999999999"} {
		refused := b.launch(keep, os.DevNull)
		require.NotZero(t, refused.Wait(), "BACKUP_KEEP=%q", keep)
		require.Contains(t, refused.Stderr(), "BACKUP_KEEP is \""+keep+"\"; it must be a whole number from 1")
		require.Equal(t, there, b.left(), "BACKUP_KEEP=%q", keep)
	}
	two := b.launch("2", os.DevNull)
	require.Zero(t, two.Wait(), "%s", two.Stderr())
	require.Equal(t, []string{"2026-01-03T000000Z", filepath.Base(strings.TrimSpace(two.Stdout())), "mine"}, b.left())
}

// A backup that takes longer than the interval is finished, and the second one says why it
// did nothing. A killed backup does not hold up others.
func TestBackupsAreMadeOneAtATime(t *testing.T) {
	t.Parallel()
	b := newBackups(t)
	gate := filepath.Join(b.tools, "gate")
	require.NoError(t, syscall.Mkfifo(gate, 0o600))
	open := func() (opened *os.File) {
		require.Eventually(t, func() bool {
			file, err := os.OpenFile(gate, os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails until there is a reader
			opened = file
			return err == nil
		}, process.Patience, time.Millisecond)
		t.Cleanup(func() { _ = opened.Close() }) // or a reader would hold up the end
		return opened
	}
	first := b.launch("7", gate)
	writing := open()
	partial := b.left()
	require.Len(t, partial, 1)
	require.Contains(t, partial[0], ".partial")
	second := b.launch("7", os.DevNull)
	require.NotZero(t, second.Wait())
	require.Contains(t, second.Stderr(), "a backup to "+b.dir+" is running")
	require.Equal(t, partial, b.left(), "what is being written is left alone")
	require.NoError(t, writing.Close())
	require.Zero(t, first.Wait(), "%s", first.Stderr())
	require.Equal(t, []string{filepath.Base(strings.TrimSpace(first.Stdout()))}, b.left())
	require.DirExists(t, filepath.Join(b.dir, strings.TrimSuffix(partial[0], ".partial")))

	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "mine.partial"), 0o700))
	killed := b.launch("7", gate)
	writing = open()
	require.NoError(t, syscall.Kill(killed.PID(), syscall.SIGKILL))
	// Its pg_basebackup goes on until the gate closes, and holds the lock until then.
	require.NoError(t, writing.Close())
	require.NotZero(t, killed.Wait())
	var third *process.Process
	require.Eventually(t, func() bool {
		third = b.launch("1", os.DevNull)
		return third.Wait() == 0
	}, process.Patience, time.Millisecond)
	require.Equal(t, []string{filepath.Base(strings.TrimSpace(third.Stdout())), "mine.partial"}, b.left(), "what broke off is removed")
}
