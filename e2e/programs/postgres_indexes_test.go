package programs

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

// indexes are what deploy/visibility.postgresql.sql leaves.
var indexes = []string{
	"by_root_workflow_id", "by_status", "by_workflow_id", "by_workflow_type", "default_idx",
	"wakecall_by_division", "wakecall_by_keyword_01", "wakecall_by_keyword_02", "wakecall_by_keyword_03",
	"wakecall_by_keyword_04", "wakecall_by_keyword_05", "wakecall_by_keyword_06", "wakecall_by_keyword_07",
	"wakecall_by_keyword_08", "wakecall_by_keyword_09", "wakecall_by_keyword_10", "wakecall_by_parent",
}

// indexesOnPostgres have what else PostgreSQL's planner looks at, or find timers by their labels, for which SQLite has a
// table of its own.
var indexesOnPostgres = []string{
	"wakecall_by_status_and_datetime_01", "wakecall_by_status_and_datetime_02", "wakecall_by_status_and_datetime_03",
	"wakecall_by_status_and_execution",
	"wakecall_by_keyword_list_01", "wakecall_by_keyword_list_02", "wakecall_by_keyword_list_03",
}

func indexesOfPostgres(t *testing.T, p *process.Postgres) {
	connection, err := pgx.Connect(t.Context(), p.URL("temporal_visibility"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, connection.Close(context.Background())) })
	rows, err := connection.Query(t.Context(),
		"SELECT indexname FROM pg_indexes WHERE tablename = 'executions_visibility' AND indexname NOT LIKE '%\\_pkey'")
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.ElementsMatch(t, slices.Concat(indexes, indexesOnPostgres), names)
	plansOfPostgres(t, connection)
}

// plansOfPostgres fills the table with timers for as long as it asks: among few, reading all
// of them is best. As many have ended as are open.
func plansOfPostgres(t *testing.T, connection *pgx.Conn) {
	execute := func(statement string) {
		_, err := connection.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		_, err := connection.Exec(context.Background(), "DELETE FROM executions_visibility WHERE namespace_id = 'n'")
		require.NoError(t, err)
	})
	execute(`INSERT INTO executions_visibility
		(namespace_id, run_id, start_time, execution_time, workflow_id, workflow_type_name, status, encoding, task_queue, root_workflow_id, root_run_id, search_attributes)
		SELECT 'n', i, now(), now() + i * interval '1 minute', i, 'WakecallTimer', CASE WHEN i > 0 THEN 1 ELSE 2 END, '', '', '', '', jsonb_build_object(
			'Keyword01', 'b', 'Datetime02', now() + i * interval '1 minute', 'KeywordList01', jsonb_build_array('customer=' || i, 'env=test'))
		FROM generate_series(-5000, 5000) i`)
	execute("VACUUM ANALYZE executions_visibility") // as PostgreSQL does by itself
	for clauses, want := range map[string]string{
		"KeywordList01 @> jsonb_build_array('customer=42')":                                                   "wakecall_by_keyword_list_01",
		"Datetime02 >= now() AND Datetime02 < now() + interval '1 minute' AND Keyword01 = 'b' AND status = 1": "wakecall_by_status_and_datetime_02",
		late("Datetime02", "Keyword03"):                                                                       "Index Only Scan using wakecall_by_status_and_datetime_02",
		late("execution_time", "Keyword03"):                                                                   "Index Only Scan using wakecall_by_status_and_execution",
	} {
		require.Contains(t, planOfPostgres(t, connection, clauses), want)
	}
	require.Contains(t, planOfPostgres(t, connection, "KeywordList01 IS NOT NULL"), "Seq Scan", "the oracle sees a reading of every record")
	for _, column := range []string{"Datetime02", "execution_time"} {
		require.NotContains(t, planOfPostgres(t, connection, late(column, "Keyword10")), "Index Only Scan", "the oracle sees that a column is missing")
	}
}

// late selects open timers that should have gone on, by one of their times, and by the keyword that has their state.
func late(column, state string) string {
	return "TemporalNamespaceDivision IS NULL AND workflow_type_name = 'WakecallTimer' AND status = 1 AND " + state + " IS NULL AND " + column + " < now() - interval '1 minute'"
}

// planOfPostgres is how PostgreSQL counts what some clauses select.
func planOfPostgres(t *testing.T, connection *pgx.Conn, clauses string) string {
	t.Helper()
	rows, err := connection.Query(t.Context(), "EXPLAIN SELECT COUNT(*) FROM executions_visibility WHERE namespace_id = 'n' AND "+clauses)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}
