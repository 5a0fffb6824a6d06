package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	driver "modernc.org/sqlite"
)

// KeyFile is the file of a data directory that holds the secret key, unless the
// environment does.
const KeyFile = "secret.key"

// Backup copies a data directory, whether it is in use or not, to a new one that
// can be started like it. Both databases are as they were at one instant, as
// after a crash. Nobody is held up meanwhile; the log of what is written grows
// until the copy is made. What is left of a backup that fails is removed.
func Backup(ctx context.Context, from, to string) (err error) {
	to = filepath.Clean(to)
	if _, err := os.Stat(filepath.Join(from, birthFile)); err != nil {
		return fmt.Errorf("%s is no data directory of Wakecall: %w", from, err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is there already; name a new directory", to), err)
	}
	// A copy that is not whole never goes by the name of one that is.
	partial, err := os.MkdirTemp(filepath.Dir(to), filepath.Base(to)+".partial-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(partial))
		}
	}()
	if err := copyStores(ctx, from, partial); err != nil {
		return err
	}
	for _, name := range []string{birthFile, KeyFile} {
		if err := copyFile(filepath.Join(from, name), filepath.Join(partial, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := persist(partial); err != nil {
		return err
	}
	if err := os.Rename(partial, to); err != nil {
		return err
	}
	return persist(filepath.Dir(to))
}

// copyStores copies both databases as they are at one instant.
func copyStores(ctx context.Context, from, to string) error {
	main, err := openSnapshot(ctx, filepath.Join(from, mainStore+".db"))
	if err != nil {
		return err
	}
	defer main.close()
	visibility, err := openSnapshot(ctx, filepath.Join(from, visibilityStore+".db"))
	if err != nil {
		return err
	}
	defer visibility.close()
	if err := together(ctx, main, visibility); err != nil {
		return err
	}
	for _, store := range []struct {
		*snapshot
		name string
	}{{main, mainStore}, {visibility, visibilityStore}} {
		file := filepath.Join(to, store.name+".db")
		if err := store.copy(ctx, file); err != nil {
			return err
		}
		// SQLite reads a URI its own way. A backup whose files are elsewhere is none.
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			return errors.Join(fmt.Errorf("SQLite left no copy at %s", file), err)
		}
	}
	return nil
}

// maxLooks is how often the same instant of both databases is looked for. They
// are read less than a millisecond apart, so few looks suffice.
const maxLooks = 1000

// together begins to read both databases at one instant: the first one is not
// written to until the second one is read as well. No lock is taken, for Temporal
// gives a transaction up that meets one.
func together(ctx context.Context, first, second *snapshot) error {
	for range maxLooks {
		before, err := first.version(ctx)
		if err != nil {
			return err
		}
		if err := errors.Join(first.begin(ctx), second.begin(ctx)); err != nil {
			return err
		}
		after, err := first.version(ctx)
		if err != nil {
			return err
		}
		if before == after {
			return nil
		}
		if err := errors.Join(first.end(ctx), second.end(ctx)); err != nil {
			return err
		}
	}
	return errors.New("the databases are written to all the time; try again")
}

// snapshot reads one database as it is at one instant.
type snapshot struct {
	db *sql.DB
	// reader holds the instant; watcher sees what others write after it.
	reader, watcher *sql.Conn
}

func openSnapshot(ctx context.Context, file string) (*snapshot, error) {
	// Written to is only the index of the log, as every reader does.
	db, err := sql.Open("sqlite", "file:"+inURI(file)+"?mode=rw&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	s := &snapshot{db: db}
	for _, conn := range []**sql.Conn{&s.reader, &s.watcher} {
		if *conn, err = db.Conn(ctx); err != nil {
			s.close()
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return s, nil
}

// begin reads something: only that fixes the instant.
func (s *snapshot) begin(ctx context.Context) error {
	if _, err := s.reader.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	var tables int
	return s.reader.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
}

func (s *snapshot) end(ctx context.Context) error {
	_, err := s.reader.ExecContext(ctx, "ROLLBACK")
	return err
}

// version changes with every write of somebody else.
func (s *snapshot) version(ctx context.Context) (version int64, err error) {
	err = s.watcher.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	return version, err
}

// pagesAtOnce are copied before anybody asks whether to go on: 16 MB.
const pagesAtOnce = 4096

func (s *snapshot) copy(ctx context.Context, to string) error {
	return s.reader.Raw(func(conn any) error {
		source, ok := conn.(interface {
			NewBackup(to string) (*driver.Backup, error)
		})
		if !ok {
			return fmt.Errorf("a connection of %T makes no backups", conn)
		}
		backup, err := source.NewBackup("file:" + inURI(to) + "?mode=rwc")
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if more, err = backup.Step(pagesAtOnce); err == nil {
				err = ctx.Err()
			}
		}
		return errors.Join(err, backup.Finish())
	})
}

func (s *snapshot) close() {
	for _, conn := range []*sql.Conn{s.reader, s.watcher} {
		if conn != nil {
			_ = conn.Close()
		}
	}
	_ = s.db.Close()
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// persist leaves the files of a directory, and their names, on the disk.
func persist(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	paths := []string{dir}
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
