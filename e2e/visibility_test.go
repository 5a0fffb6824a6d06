package e2e

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/process"
)

// indexes are what deploy/visibility.….sql leave, on either engine.
var indexes = []string{
	"by_execution_time", "by_keyword_01", "by_keyword_02", "by_keyword_03", "by_keyword_04", "by_keyword_05", "by_keyword_06",
	"by_keyword_07", "by_keyword_08", "by_keyword_09", "by_keyword_10", "by_root_workflow_id", "by_status", "by_workflow_id",
	"by_workflow_type", "default_idx", "wakecall_by_division", "wakecall_by_parent", "wakecall_by_status_and_time",
}

func TestIndexesOfSQLite(t *testing.T) {
	dir := t.TempDir()
	_, stop, err := house.Temporal(dir)
	require.NoError(t, err)
	t.Cleanup(stop)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "visibility.db")+"?mode=ro")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.ElementsMatch(t, indexes, column(t, db, 0,
		"SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL"))

	// What the reconciler asks, as Temporal puts it.
	overdue := `SELECT workflow_id FROM executions_visibility WHERE namespace_id = ? AND workflow_type_name = ? AND status = ?
		AND execution_time < ? AND Keyword01 IS NULL AND TemporalNamespaceDivision IS NULL
		ORDER BY COALESCE(close_time, '9999-12-31 23:59:59+00:00') DESC, start_time DESC, run_id LIMIT 1000`
	const detail = 3
	require.Contains(t, column(t, db, detail, "EXPLAIN QUERY PLAN "+overdue, "n", "t", 1, "2026")[0],
		"wakecall_by_status_and_time (namespace_id=? AND status=? AND execution_time<?)")
}

// column is one column of what a query finds.
func column(t *testing.T, db *sql.DB, n int, query string, parameters ...any) (values []string) {
	t.Helper()
	rows, err := db.Query(query, parameters...)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	names, err := rows.Columns()
	require.NoError(t, err)
	for rows.Next() {
		row, fields := make([]string, len(names)), make([]any, len(names))
		for i := range row {
			fields[i] = &row[i]
		}
		require.NoError(t, rows.Scan(fields...))
		values = append(values, row[n])
	}
	require.NoError(t, rows.Err())
	return values
}

func indexesOfPostgres(t *testing.T, p *process.Postgres) {
	connection, err := pgx.Connect(t.Context(), p.URL("temporal_visibility"))
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close(t.Context())) }()
	rows, err := connection.Query(t.Context(),
		"SELECT indexname FROM pg_indexes WHERE tablename = 'executions_visibility' AND indexname NOT LIKE '%\\_pkey'")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.ElementsMatch(t, indexes, names)
}
