package process

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// Destroy ends PostgreSQL and removes all of its data.
func (p *Production) Destroy() {
	p.T.Helper()
	p.Postgres.Kill()
	require.NoError(p.T, os.RemoveAll(p.Postgres.data))
}

// Restore unpacks the newest backup of a directory into PostgreSQL's place, and starts it.
func (p *Production) Restore(backups string) {
	p.T.Helper()
	settings := []string{"PGDATA=" + p.Postgres.data, "BACKUP_DIR=" + backups}
	require.NoError(p.T, p.Job("restore", settings...))
	require.Error(p.T, p.Job("restore", settings...), "nothing is overwritten")
	p.Postgres.Start()
}

// Backup makes a backup in a shared directory, as the compose file's job does.
func (p *Production) Backup(backups string) {
	p.T.Helper()
	before, _ := filepath.Glob(filepath.Join(backups, "*"))
	require.NoError(p.T, p.Job("backup", "BACKUP_DIR="+backups))
	after, err := filepath.Glob(filepath.Join(backups, "*", "base.tar.gz"))
	require.NoError(p.T, err)
	require.NotEmpty(p.T, after)
	require.GreaterOrEqual(p.T, len(after), len(before))
}
