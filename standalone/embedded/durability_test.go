package embedded

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	driver "modernc.org/sqlite"
)

// synchronous is the value of the pragma for each SQLite connection of this process, by its
// data source name. The pragma exists only in the connection: only the server's own
// connections can prove what it writes with.
var synchronous sync.Map

func init() {
	driver.RegisterConnectionHook(func(conn driver.ExecQuerierContext, dsn string) error {
		rows, err := conn.QueryContext(context.Background(), "PRAGMA synchronous", nil)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		value := make([]sqldriver.Value, 1)
		if err := rows.Next(value); err != nil {
			return err
		}
		synchronous.Store(dsn, fmt.Sprint(value[0]))
		return nil
	})
}

func TestServerWritesAsSafelyAsAsked(t *testing.T) {
	t.Parallel()
	for asked, level := range map[string]string{"full": "2", "normal": "1", "off": "0"} {
		t.Run(asked, func(t *testing.T) {
			dir := t.TempDir()
			server, err := Start(Options{
				Addr: smallest(t).Addr, DataDir: dir, Namespace: "default", Retention: time.Hour, Shards: 1, Synchronous: asked,
			})
			require.NoError(t, err)
			defer func() { require.NoError(t, server.Stop(t.Context())) }()
			for _, name := range []string{"main.db", "visibility.db"} {
				require.Equal(t, []string{level}, levels(filepath.Join(dir, name)), name)
			}
		})
	}
}

// levels are the synchronous values of the writing connections to a file.
func levels(file string) (found []string) {
	seen := map[string]bool{}
	synchronous.Range(func(key, value any) bool {
		dsn := key.(string)
		path, query, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
		if unescaped, err := url.PathUnescape(path); err == nil {
			path = unescaped
		}
		if path == file && strings.Contains(query, "rwc") && !seen[value.(string)] {
			seen[value.(string)] = true
			found = append(found, value.(string))
		}
		return true
	})
	return found
}
