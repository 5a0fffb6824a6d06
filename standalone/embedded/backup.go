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

// KeyFile is the file with the secret key in a data directory, unless the environment has the
// key.
const KeyFile = "secret.key"

// Backup copies a data directory to a new one that can be started. The directory may be in use.
// Both databases have their state of one instant, as after a crash. Backup does not block
// writers, but the write-ahead log grows until it ends. It removes a failed backup.
func Backup(ctx context.Context, from, to string) (err error) {
	to = filepath.Clean(to)
	if _, err := os.Stat(filepath.Join(from, birthFile)); err != nil {
		return fmt.Errorf("%s is not a data directory of Wakecall: %w", from, err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s exists already; name a new directory", to), err)
	}
	// An incomplete copy never has the name of a complete one.
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

// copyStores copies both databases in their state of one instant.
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
		// SQLite parses a URI in its own way, so the files could be elsewhere.
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			return errors.Join(fmt.Errorf("SQLite left no copy at %s", file), err)
		}
	}
	return nil
}

// maxLooks bounds the search for one instant of both databases. They are read less than a
// millisecond apart, so few tries suffice.
const maxLooks = 1000

// together begins to read both databases at one instant: there is no write to the first one
// until the second one is read too. It takes no lock, because Temporal gives up a transaction
// that meets one.
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
	return errors.New("the databases are too busy for a copy; try again")
}

// snapshot reads one database in its state of one instant.
type snapshot struct {
	db *sql.DB
	// reader holds the instant; watcher sees later writes.
	reader, watcher *sql.Conn
}

func openSnapshot(ctx context.Context, file string) (*snapshot, error) {
	// Only the index of the log is written, as by every reader.
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

// begin reads something, because only that fixes the instant.
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

// version changes with every write of another connection.
func (s *snapshot) version(ctx context.Context) (version int64, err error) {
	err = s.watcher.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	return version, err
}

// pagesAtOnce are copied between two checks of ctx: 16 MB.
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

// persist syncs the files of a directory, and their names, to the disk.
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
