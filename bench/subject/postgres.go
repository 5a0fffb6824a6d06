package subject

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// durable is how PostgreSQL runs here: a commit survives a power cut. The tests
// that share the server do without.
const durable = "fsync=on"

// commits asks PostgreSQL how many transactions have written anything, in all
// databases: each took a number. The statistics in pg_stat_database are of no
// use here, for a connection that falls idle reports up to ten seconds later.
func commits(ctx context.Context, url string) (Counters, error) {
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		return Counters{}, err
	}
	defer func() { _ = connection.Close(ctx) }()
	var n int64
	err = connection.QueryRow(ctx, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").Scan(&n)
	return Counters{Commits: n}, err
}
