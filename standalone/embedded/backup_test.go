package embedded

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
)

// A server is copied while it runs, and after a stop; both directories start again.
func TestDirectoryIsCopiedAndLeftWhole(t *testing.T) {
	o := smallest(t)
	server := running(t, o)
	begin(t, o, "before")
	copied := o
	copied.DataDir = filepath.Join(t.TempDir(), "copy")
	require.NoError(t, Backup(t.Context(), o.DataDir, copied.DataDir))
	begin(t, o, "after")
	require.NotZero(t, logged(t, o.DataDir), "the oracle sees a log that is in use")
	stop(t, server)
	require.Zero(t, logged(t, o.DataDir), "the databases are whole without their logs")

	server = running(t, copied)
	c := dial(t, copied)
	_, err := c.DescribeWorkflowExecution(t.Context(), "before", "")
	require.NoError(t, err)
	_, err = c.DescribeWorkflowExecution(t.Context(), "after", "")
	require.ErrorContains(t, err, "not found", "the copy is of the moment at which it was made")
	require.Equal(t, o.Retention, retention(t, copied))
	stop(t, server)

	copied.Retention = 2 * o.Retention
	server = running(t, copied)
	require.Equal(t, copied.Retention, retention(t, copied), "a changed retention is applied")
	stop(t, server)
}

func running(t *testing.T, o Options) *Server {
	t.Helper()
	server, err := Start(o)
	require.NoError(t, err)
	return server
}

func stop(t *testing.T, server *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, server.Stop(ctx))
}

func dial(t *testing.T, o Options) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: o.Addr, Logger: silence{}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// begin starts a workflow without a worker.
func begin(t *testing.T, o Options, id string) {
	t.Helper()
	_, err := dial(t, o).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "none"}, "none")
	require.NoError(t, err)
}

func retention(t *testing.T, o Options) time.Duration {
	t.Helper()
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: o.Addr, Logger: silence{}})
	require.NoError(t, err)
	defer namespaces.Close()
	found, err := namespaces.Describe(t.Context(), o.Namespace)
	require.NoError(t, err)
	return found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
}

// logged returns the size of SQLite's logs in bytes.
func logged(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	for _, store := range []string{mainStore, visibilityStore} {
		info, err := os.Stat(filepath.Join(dir, store+".db-wal"))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		bytes += info.Size()
	}
	return bytes
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	o, dir := options(t), t.TempDir()
	err := Backup(t.Context(), dir, filepath.Join(dir, "copy"))
	require.ErrorContains(t, err, "not a data directory of Wakecall")
	opened(t, o).close()
	require.ErrorContains(t, Backup(t.Context(), o.DataDir, dir), "exists already")
	require.Error(t, Backup(t.Context(), o.DataDir, filepath.Join(dir, "no", "copy")))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Backup(gone, o.DataDir, filepath.Join(dir, "copy")), context.Canceled)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "nothing of a failed backup stays")
	require.NoError(t, Backup(t.Context(), o.DataDir, filepath.Join(dir, "copy")+"/"))
}

// SQLite gets its files as URIs, in which these characters have a meaning. The names of both
// directories may have them.
func TestBackupsHaveTheNameTheyWereGiven(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nightly#3", "nightly?3", "nightly%413", "nightly%zz", "näch tlich&3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, dir := options(t), t.TempDir()
			o.DataDir = filepath.Join(dir, "data-"+name)
			opened(t, o).close()
			copied := o
			copied.DataDir = filepath.Join(dir, name)
			require.NoError(t, Backup(t.Context(), o.DataDir, copied.DataDir))
			for _, store := range []string{mainStore, visibilityStore} {
				require.FileExists(t, filepath.Join(copied.DataDir, store+".db"))
			}
			opened(t, copied).close()
			left, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.ElementsMatch(t, []string{o.DataDir, copied.DataDir}, left, "nothing is left elsewhere")
		})
	}
}

// A writer counts in the first database and then in the second one. In a snapshot, the second
// one never has more, unless they are read one after the other.
func TestBackupIsOfOneInstant(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := counter(t, dir, mainStore), counter(t, dir, visibilityStore)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- count(ctx, first, second) }()
	for range 20 {
		to := t.TempDir()
		require.NoError(t, copyStores(t.Context(), dir, to))
		ahead := counted(t, to, mainStore) - counted(t, to, visibilityStore)
		require.Contains(t, []int{0, 1}, ahead)
	}
	require.Eventually(t, func() bool {
		require.Empty(t, done, "the writer goes on")
		to := t.TempDir()
		for _, store := range []string{mainStore, visibilityStore} {
			s, err := openSnapshot(t.Context(), filepath.Join(dir, store+".db"))
			require.NoError(t, err)
			require.NoError(t, s.copy(t.Context(), filepath.Join(to, store+".db")))
			s.close()
		}
		return counted(t, to, mainStore) < counted(t, to, visibilityStore)
	}, time.Minute, time.Millisecond, "the oracle sees copies of two instants")
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// counter is a database like Temporal's own, with one number in it.
func counter(t *testing.T, dir, store string) *sql.DB {
	t.Helper()
	db := database(t, dir, store)
	_, err := db.ExecContext(t.Context(), "PRAGMA journal_mode=wal; PRAGMA synchronous=off; CREATE TABLE counter (n INTEGER); INSERT INTO counter VALUES (0)")
	require.NoError(t, err)
	return db
}

func database(t *testing.T, dir, store string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, store+".db")+"?mode=rwc&_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func count(ctx context.Context, databases ...*sql.DB) error {
	for ctx.Err() == nil {
		for _, db := range databases {
			if _, err := db.ExecContext(context.WithoutCancel(ctx), "UPDATE counter SET n = n + 1"); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func counted(t *testing.T, dir, store string) (n int) {
	t.Helper()
	require.NoError(t, database(t, dir, store).QueryRowContext(t.Context(), "SELECT n FROM counter").Scan(&n))
	return n
}
