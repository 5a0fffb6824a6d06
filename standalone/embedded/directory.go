package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	serverconfig "go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/primitives/timestamp"
	"go.temporal.io/server/common/resolver"
	sqliteschema "go.temporal.io/server/schema/sqlite"

	"github.com/wakecall/wakecall/deploy"
)

// directory is the data directory of a running server.
type directory struct {
	lock    *flock.Flock
	options Options
}

// birth records how a data directory was made. Temporal itself checks no schema on SQLite, and
// silently accepts another shard count than the stored one.
type birth struct {
	Schema           string `json:"schema"`
	VisibilitySchema string `json:"visibility_schema"`
	Shards           int    `json:"history_shards"`
}

const birthFile = "engine.json"

// openDirectory locks the directory, makes missing files, and refuses a directory of another
// version.
func openDirectory(o Options) (*directory, error) {
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, err
	}
	d := &directory{lock: flock.New(filepath.Join(o.DataDir, "lock")), options: o}
	locked, err := d.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, fmt.Errorf("the data directory %s is in use by another process", o.DataDir)
	}
	if err := prepare(o); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// prepare makes the files fit for this build.
func prepare(o Options) error {
	now := birth{Schema: sqliteschema.Version, VisibilitySchema: sqliteschema.VisibilityVersion, Shards: o.Shards}
	err := admit(o.DataDir, now)
	if errors.Is(err, os.ErrNotExist) {
		err = found(o, now)
	}
	if err != nil {
		return err
	}
	if err := execute(sqlite(o, visibilityStore), deploy.VisibilityIndexes); err != nil {
		return fmt.Errorf("the indexes of %s.db: %w", visibilityStore, err)
	}
	return readBack(o)
}

func (d *directory) close() { _ = d.lock.Unlock() }

// fold writes SQLite's logs into the databases, and empties the logs. Temporal never closes its
// connections, which would do it.
func (d *directory) fold() (err error) {
	for _, store := range []string{mainStore, visibilityStore} {
		err = errors.Join(err, execute(sqlite(d.options, store), "PRAGMA wal_checkpoint(TRUNCATE)"))
	}
	return err
}

// admit compares the record of the directory with this build.
func admit(dir string, now birth) error {
	text, err := os.ReadFile(filepath.Join(dir, birthFile))
	if err != nil {
		if _, stat := os.Stat(filepath.Join(dir, mainStore+".db")); stat == nil {
			return fmt.Errorf("the data directory %s holds a database that was never finished "+
				"or is not Wakecall's (no %s); move it away", dir, birthFile)
		}
		return err
	}
	var then birth
	if err := json.Unmarshal(text, &then); err != nil {
		return fmt.Errorf("the data directory %s has a damaged %s: %w", dir, birthFile, err)
	}
	if then != now {
		return fmt.Errorf("the data directory %s was made with schema %s/%s and %d history shards, but this build runs schema %s/%s and %d; "+
			"use the build and the shard count that made it, or another WAKECALL_DATA_DIR",
			dir, then.Schema, then.VisibilitySchema, then.Shards, now.Schema, now.VisibilitySchema, now.Shards)
	}
	return nil
}

// found makes the files of a new directory. The birth file comes last, as the mark of a finished
// directory.
func found(o Options, now birth) error {
	for _, store := range []string{mainStore, visibilityStore} {
		if err := sqliteschema.SetupSchema(sqlite(o, store)); err != nil {
			return fmt.Errorf("making %s.db: %w", store, err)
		}
	}
	namespace, err := sqliteschema.NewNamespaceConfig(clusterName, o.Namespace, false, o.SearchAttributes)
	if err != nil {
		return err
	}
	namespace.Detail.Config.Retention = timestamp.DurationPtr(o.Retention)
	if err := sqliteschema.CreateNamespaces(sqlite(o, mainStore), namespace); err != nil {
		return fmt.Errorf("making the namespace: %w", err)
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.DataDir, birthFile), append(text, '\n'), 0o600)
}

// synchronousNumber is SQLite's number for a value of the pragma.
var synchronousNumber = map[string]string{"off": "0", "normal": "1", "full": "2", "extra": "3"}

// readBack checks the pragmas on a connection like Temporal's own, because SQLite silently
// ignores a misspelt one.
func readBack(o Options) error {
	for _, store := range []string{mainStore, visibilityStore} {
		config := sqlite(o, store)
		err := errors.Join(
			expectPragma(config, "journal_mode", "wal"),
			expectPragma(config, "synchronous", synchronousNumber[o.Synchronous]),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// execute runs statements on a file, opened as Temporal does.
func execute(config *serverconfig.SQL, statements string) error {
	db, err := sql.NewSQLAdminDB(sqlplugin.DbKindUnknown, config, resolver.NewNoopResolver(), log.NewNoopLogger(),
		metrics.NoopMetricsHandler)
	if err != nil {
		return err
	}
	return errors.Join(db.Exec(statements), db.Close())
}

// expectPragma fails if a pragma has another value. Temporal's handle can only execute, so the
// statement itself must fail: json of an empty text does.
func expectPragma(config *serverconfig.SQL, name, want string) error {
	check := fmt.Sprintf("SELECT CASE CAST(%[1]s AS TEXT) WHEN '%[2]s' THEN 1 ELSE json('') END FROM pragma_%[1]s", name, want)
	if err := execute(config, check); err != nil {
		return fmt.Errorf("%s: SQLite does not run with %s=%s: %w", config.DatabaseName, name, want, err)
	}
	return nil
}
