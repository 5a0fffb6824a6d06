package embedded

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/deploy"
)

// indexes are the indexes of deploy/visibility.….sql on either engine, and indexesOnSQLite
// are the further ones that SQLite's planner needs.
var (
	indexes = []string{
		"by_root_workflow_id", "by_status", "by_workflow_id", "by_workflow_type", "default_idx",
		"wakecall_by_division", "wakecall_by_keyword_01", "wakecall_by_keyword_02", "wakecall_by_keyword_03",
		"wakecall_by_keyword_04", "wakecall_by_keyword_05", "wakecall_by_keyword_06", "wakecall_by_keyword_07",
		"wakecall_by_keyword_08", "wakecall_by_keyword_09", "wakecall_by_keyword_10", "wakecall_by_parent",
	}
	indexesOnSQLite = []string{
		"wakecall_by_keyword_01_and_status", "wakecall_by_keyword_02_and_status", "wakecall_by_keyword_03_and_status",
		"wakecall_by_keyword_04_and_status", "wakecall_by_keyword_05_and_status", "wakecall_by_keyword_06_and_status",
		"wakecall_by_keyword_07_and_status", "wakecall_by_keyword_08_and_status", "wakecall_by_keyword_09_and_status",
		"wakecall_by_keyword_10_and_status", "wakecall_by_type_and_status", "wakecall_by_status_and_due",
		"wakecall_by_status_and_datetime_01", "wakecall_by_status_and_datetime_02", "wakecall_by_status_and_datetime_03",
	}
)

// TestVisibilityOnSQLite queries the store of a running Temporal.
func TestVisibilityOnSQLite(t *testing.T) {
	t.Parallel()
	db := visibility(t)
	t.Run("indexes", func(t *testing.T) { indexesOfSQLite(t, db) })
	t.Run("plans", func(t *testing.T) { plansOfSQLite(t, db) })
	t.Run("ranking reaches an open connection", func(t *testing.T) { rankingOfSQLite(t, db) })
}

func indexesOfSQLite(t *testing.T, db *sql.DB) {
	const name = 0
	require.ElementsMatch(t, slices.Concat(indexes, indexesOnSQLite), column(t, db, name,
		"SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL"))
}

func visibility(t *testing.T) *sql.DB {
	o := smallest(t)
	server := running(t, o)
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	db, err := sql.Open("sqlite", "file:"+filepath.Join(o.DataDir, "visibility.db")+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1) // a connection's reading of the ranking is not shared
	return db
}

// SQLite's ways to run a query.
const (
	byType             = "by_workflow_type (namespace_id=? AND workflow_type_name=?)"
	byTypeAndStatus    = "wakecall_by_type_and_status (namespace_id=? AND workflow_type_name=? AND status=?)"
	byDue              = "wakecall_by_status_and_due (namespace_id=? AND status=? AND execution_time<?)"
	byBusiness         = "wakecall_by_keyword_01 (namespace_id=? AND Keyword01=?)"
	byBusinessAndState = "wakecall_by_keyword_01_and_status (namespace_id=? AND Keyword01=? AND status=?)"
	byState            = "wakecall_by_keyword_09_and_status (namespace_id=? AND Keyword09=? AND status=?)"
	byDueTime          = "wakecall_by_status_and_datetime_02 (namespace_id=? AND status=? AND Datetime02>? AND Datetime02<?)"
	byLateness         = "wakecall_by_status_and_datetime_02 (namespace_id=? AND status=? AND Datetime02<?)"
	byLabel            = "USING INTEGER PRIMARY KEY (rowid=?)"
	readAll            = "(namespace_id=?)"
)

// The conditions for timers, and for failed ones.
const (
	timers = "workflow_type_name = 'WakecallTimer' AND "
	failed = timers + "status IN (3, 7)"

	labelled = "rowid IN (SELECT rowid FROM executions_visibility_fts_keyword_list" +
		" WHERE executions_visibility_fts_keyword_list = 'KeywordList01 : (\"customer=42\")')"
)

// A query on a store with a million timers must not read them all. These are the queries of
// Wakecall and of the Web UI in Temporal's form, each with the index that finds its result,
// or that alone suffices to count it.
func plansOfSQLite(t *testing.T, db *sql.DB) {
	for _, question := range []struct{ clauses, index string }{
		{"workflow_type_name = 'WakecallPolicy' AND status = 1", byTypeAndStatus},
		{"workflow_type_name = 'WakecallPolicy' AND status != 6", byType},
		{"workflow_id = 'w'", "by_workflow_id (namespace_id=? AND workflow_id=?)"},
		{timers + "status = 1 AND execution_time < '2026' AND Keyword09 IS NULL", byDue},
		{timers + "status = 1 AND execution_time < '2026' AND Keyword09 = 'delivering'", byState},
		{timers + "status != 6", byType},
		{timers + "status = 1 AND Keyword09 IS NULL", byTypeAndStatus},
		{timers + "status = 1 AND Keyword09 = 'paused'", byState},
		{timers + "status = 2 AND (Keyword09 IS NULL OR Keyword09 != 'expired')", byTypeAndStatus},
		{failed, byTypeAndStatus},
		{timers + "status != 6 AND Keyword01 = 'b'", byBusiness},
		{timers + "status = 1 AND Keyword09 IS NULL AND Keyword01 = 'b'", byBusinessAndState},
		{failed + " AND Keyword01 = 'b'", byBusinessAndState},
		{timers + "status IN (1, 2, 3, 7, 4, 5, 8) AND Datetime02 >= '2026' AND Datetime02 <= '2027'", byDueTime},
		{timers + "status = 1 AND Keyword09 IS NULL AND Datetime02 <= '2026'", byLateness},
		{timers + "status != 6 AND " + labelled, byLabel},
		{timers + "status != 6 AND Keyword01 = 'b' AND " + labelled, byLabel},
		{timers + "status = 1 AND Keyword09 IS NULL AND Keyword01 = 'b' AND " + labelled, byLabel},
		{timers + "status = 1 AND Keyword09 IS NULL AND Keyword01 = 'b' AND Datetime02 >= '2026' AND Datetime02 < '2027'", byDueTime},
		{"status = 1", " by_status (namespace_id=? AND status=?)"},
		{"true", "default_idx (namespace_id=?)"},
	} {
		require.Contains(t, listing(t, db, question.clauses), question.index, question.clauses)
	}
	for _, question := range []struct{ clauses, index string }{
		{timers + "Keyword01 = 'b' AND status = 1", byBusinessAndState},
		{timers + "Keyword01 = 'b' AND status = 1 AND Keyword09 IS NULL AND Datetime02 >= '2026' AND Datetime02 < '2027'", byDueTime},
		{"status = 1", "wakecall_by_status_and_due (namespace_id=? AND status=?)"},
		{"workflow_type_name = 'WakecallTimer'", "wakecall_by_type_and_status (namespace_id=? AND workflow_type_name=?)"},
		{"true", "wakecall_by_status_and_due (namespace_id=?)"},
	} {
		require.Contains(t, plan(t, db, "COUNT(*)", question.clauses), question.index, question.clauses)
	}
	require.Contains(t, listing(t, db, "Int01 = 1"), readAll, "the oracle sees a reading of every record")
}

// Temporal has the file open when the statements are run.
func rankingOfSQLite(t *testing.T, db *sql.DB) {
	_, err := db.Exec("DELETE FROM sqlite_stat1; ANALYZE sqlite_schema")
	require.NoError(t, err)
	require.NotContains(t, listing(t, db, failed), byTypeAndStatus, "without the ranking")
	_, err = db.Exec(deploy.VisibilityIndexes)
	require.NoError(t, err)
	require.Contains(t, listing(t, db, failed), byTypeAndStatus)
}

// listing is SQLite's plan to list what some clauses select.
func listing(t *testing.T, db *sql.DB, clauses string) string {
	t.Helper()
	return plan(t, db, "workflow_id, memo", "("+clauses+
		") ORDER BY COALESCE(close_time, '9999-12-31 23:59:59+00:00') DESC, start_time DESC, run_id LIMIT 1000")
}

// plan is SQLite's plan for a query.
func plan(t *testing.T, db *sql.DB, what, clauses string) string {
	t.Helper()
	const detail = 3
	return column(t, db, detail, "EXPLAIN QUERY PLAN SELECT "+what+
		" FROM executions_visibility WHERE namespace_id = 'n' AND TemporalNamespaceDivision IS NULL AND "+clauses)[0]
}

// column is the n-th column of a query's result.
func column(t *testing.T, db *sql.DB, n int, query string) (values []string) {
	t.Helper()
	rows, err := db.Query(query)
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
