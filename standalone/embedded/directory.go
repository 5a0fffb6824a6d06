package embedded

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	serverconfig "go.temporal.io/server/common/config"
	"go.temporal.io/server/common/primitives/timestamp"
	sqliteschema "go.temporal.io/server/schema/sqlite"
)

// directory is the data directory of a running server.
type directory struct{ lock *flock.Flock }

// birth is what a data directory was made with. Temporal itself checks no
// schema on SQLite, and takes another shard count than the stored one in
// silence.
type birth struct {
	Schema           string `json:"schema"`
	VisibilitySchema string `json:"visibility_schema"`
	Shards           int    `json:"history_shards"`
}

const birthFile = "engine.json"

// openDirectory locks the directory, makes its files if they are not there,
// and refuses one that was made by another version.
func openDirectory(o Options) (_ *directory, err error) {
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, err
	}
	d := &directory{lock: flock.New(filepath.Join(o.DataDir, "lock"))}
	locked, err := d.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, fmt.Errorf("the data directory %s is in use by another process", o.DataDir)
	}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	now := birth{Schema: sqliteschema.Version, VisibilitySchema: sqliteschema.VisibilityVersion, Shards: o.Shards}
	if err := admit(o.DataDir, now); errors.Is(err, os.ErrNotExist) {
		err = found(o, now)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return d, readBack(o)
}

func (d *directory) close() { _ = d.lock.Unlock() }

// admit compares what the directory was made with against what this build
// would make.
func admit(dir string, now birth) error {
	text, err := os.ReadFile(filepath.Join(dir, birthFile))
	if err != nil {
		if _, stat := os.Stat(filepath.Join(dir, mainStore+".db")); stat == nil {
			return fmt.Errorf("the data directory %s holds a database that was never finished or is not Wakecall's (no %s); move it away", dir, birthFile)
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

// found makes the files of a new directory. The birth file comes last: a
// directory without one was not finished.
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

// readBack asks SQLite whether it took the pragmas: a misspelt one is ignored
// without a word.
func readBack(o Options) error {
	for _, store := range []string{mainStore, visibilityStore} {
		if err := readPragma(sqlite(o, store), "journal_mode", "wal"); err != nil {
			return err
		}
	}
	return nil
}

func readPragma(config *serverconfig.SQL, name, want string) error {
	db, err := sql.Open("sqlite", "file:"+config.DatabaseName+"?mode=rw")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var got string
	if err := db.QueryRow("PRAGMA " + name).Scan(&got); err != nil {
		return fmt.Errorf("%s: %w", config.DatabaseName, err)
	}
	if !strings.EqualFold(got, want) {
		return fmt.Errorf("%s: SQLite runs with %s=%s instead of %s", config.DatabaseName, name, got, want)
	}
	return nil
}
