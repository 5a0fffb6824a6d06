package systems

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/wakecall/wakecall/e2e/process"
)

// durable makes commits survive a power cut. The tests that share the server do without.
const durable = "fsync=on"

// connections are enough for River's workers and the clients that book.
const connections = "max_connections=200"

const (
	superuser = "postgres"
	database  = "postgres"
)

// pooled is the URL of a database for as many connections as clients: pgx's default of four would
// be the limit.
func pooled(server *process.Postgres) string {
	return fmt.Sprintf("%s&pool_max_conns=%d", server.URL(database), clients)
}

// counted asks PostgreSQL for the size of all databases and for the number of writing
// transactions: each took a number. The statistics in pg_stat_database are useless here,
// since an idle connection reports up to ten seconds late.
const counted = `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, (SELECT sum(pg_database_size(oid))::bigint FROM pg_database)`

func postgresCounters(ctx context.Context, url string) (Counters, error) {
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		return Counters{}, err
	}
	defer func() { _ = connection.Close(ctx) }()
	var c Counters
	err = connection.QueryRow(ctx, counted).Scan(&c.Commits, &c.Bytes)
	return c, err
}
