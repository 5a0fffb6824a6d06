package prepared

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"
)

// counting counts how many statements are prepared, and how many are open.
type counting struct {
	sqlite.Driver

	prepared, open int
}

func (c *counting) Open(dsn string) (driver.Conn, error) {
	conn, err := c.Driver.Open(dsn)
	if err != nil {
		return nil, err
	}
	return &countingConn{underlying: conn.(underlying), counting: c}, nil
}

type countingConn struct {
	underlying

	counting *counting
}

func (c *countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.underlying.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.counting.prepared++
	c.counting.open++
	return &countingStmt{able: s.(able), counting: c.counting}, nil
}

type countingStmt struct {
	able

	counting *counting
}

func (s *countingStmt) Close() error {
	s.counting.open--
	return s.able.Close()
}

func open(t *testing.T) (*sql.DB, *counting) {
	t.Helper()
	counts := &counting{}
	db := sql.OpenDB(Connector(counts, "file:"+filepath.Join(t.TempDir(), "test.db")))
	db.SetMaxOpenConns(1)
	_, err := db.Exec("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
	require.NoError(t, err)
	counts.prepared = 0
	t.Cleanup(func() {
		require.NoError(t, db.Close())
		require.Zero(t, counts.open, "statements that nobody closed")
	})
	return db, counts
}

func insert(t *testing.T, db interface {
	Exec(query string, args ...any) (sql.Result, error)
}, n int) error {
	t.Helper()
	_, err := db.Exec("INSERT INTO numbers VALUES (?)", n)
	return err
}

func TestATextIsPreparedOnce(t *testing.T) {
	t.Parallel()
	db, counts := open(t)
	for n := range 10 {
		require.NoError(t, insert(t, db, n))
		var read int
		require.NoError(t, db.QueryRow("SELECT n FROM numbers WHERE n = ?", n).Scan(&read))
		require.Equal(t, n, read)
	}
	require.Equal(t, 2, counts.prepared)
}

// A failed statement can be used again, and does not affect its transaction.
func TestAfterAnError(t *testing.T) {
	t.Parallel()
	db, counts := open(t)
	require.NoError(t, insert(t, db, 1))
	require.ErrorContains(t, insert(t, db, 1), "UNIQUE")
	require.NoError(t, insert(t, db, 2))

	tx, err := db.Begin()
	require.NoError(t, err)
	require.NoError(t, insert(t, tx, 4))
	require.ErrorContains(t, insert(t, tx, 1), "UNIQUE")
	require.NoError(t, tx.Rollback())
	require.NoError(t, insert(t, db, 4), "it was rolled back")
	require.Equal(t, 1, counts.prepared)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = db.ExecContext(ctx, "INSERT INTO numbers VALUES (?)", 3)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, insert(t, db, 3))
}

// A query whose rows are still being read keeps its statement.
func TestTheSameQueryWithin(t *testing.T) {
	t.Parallel()
	db, counts := open(t)
	for n := range 3 {
		require.NoError(t, insert(t, db, n))
	}
	counts.prepared = 0
	tx, err := db.Begin()
	require.NoError(t, err)
	var pairs []string
	outer := read(t, tx)
	for outer.Next() {
		inner := read(t, tx)
		for inner.Next() {
			var a, b int
			require.NoError(t, outer.Scan(&a))
			require.NoError(t, inner.Scan(&b))
			pairs = append(pairs, fmt.Sprint(a, b))
		}
		require.NoError(t, inner.Err())
		require.NoError(t, inner.Close())
	}
	require.NoError(t, outer.Err())
	require.NoError(t, outer.Close())
	require.NoError(t, tx.Commit())
	require.Equal(t, []string{"0 0", "0 1", "0 2", "1 0", "1 1", "1 2", "2 0", "2 1", "2 2"}, pairs)
	require.Equal(t, 1+3, counts.prepared, "the outer one, and one for each inner one")
	require.Equal(t, 3, counts.open, "the table, the insert and the outer query are kept")
}

func read(t *testing.T, tx *sql.Tx) *sql.Rows {
	t.Helper()
	rows, err := tx.Query("SELECT n FROM numbers ORDER BY n")
	require.NoError(t, err)
	return rows
}

// The least used statement is closed; one in use, after its last row.
func TestNoMoreThanSoMany(t *testing.T) {
	t.Parallel()
	db, counts := open(t)
	require.NoError(t, insert(t, db, 1))
	require.NoError(t, insert(t, db, 2))
	tx, err := db.Begin()
	require.NoError(t, err)
	rows := read(t, tx)
	require.True(t, rows.Next())
	for i := range kept {
		_, err := tx.Exec(fmt.Sprintf("DELETE FROM numbers WHERE n = %d", 100+i))
		require.NoError(t, err)
	}
	require.Equal(t, kept+1, counts.open)
	require.True(t, rows.Next(), "it is still being read")
	require.NoError(t, rows.Close())
	require.NoError(t, tx.Commit())
	require.Equal(t, kept, counts.open)
}

// After a change of a table SQLite prepares again by itself.
func TestAnotherSchema(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	require.NoError(t, insert(t, db, 1))
	for _, change := range []string{"ALTER TABLE numbers ADD COLUMN name TEXT", "CREATE INDEX by_name ON numbers (name)"} {
		_, err := db.Exec(change)
		require.NoError(t, err)
	}
	require.ErrorContains(t, insert(t, db, 2), "2 columns but 1 values")
}
