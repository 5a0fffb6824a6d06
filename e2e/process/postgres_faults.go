package process

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// StopNow does the same as `pg_ctl stop -m immediate`: PostgreSQL aborts without a
// checkpoint, and recovers at the next start.
func (p *Postgres) StopNow() { p.t.Helper(); p.signal(syscall.SIGQUIT) }

// The statement that ends all of Temporal's connections.
const terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname LIKE 'temporal%'"

// Terminate ends all of Temporal's connections, and returns their number.
func (p *Postgres) Terminate() (terminated int) {
	p.t.Helper()
	connection, err := p.connect(p.t.Context(), maintenance)
	require.NoError(p.t, err)
	defer func() { _ = connection.Close(context.Background()) }()
	require.NoError(p.t, connection.QueryRow(p.t.Context(), terminate).Scan(&terminated))
	return terminated
}

// Exec runs a statement in a database.
func (p *Postgres) Exec(database, statement string) {
	p.t.Helper()
	connection, err := p.connect(p.t.Context(), database)
	require.NoError(p.t, err)
	defer func() { _ = connection.Close(context.Background()) }()
	_, err = connection.Exec(p.t.Context(), statement)
	require.NoError(p.t, err)
}

// Lock locks a table for all others until it is released.
func (p *Postgres) Lock(database, table string) (release func()) {
	p.t.Helper()
	connection, err := p.connect(p.t.Context(), database)
	require.NoError(p.t, err)
	transaction, err := connection.Begin(p.t.Context())
	require.NoError(p.t, err)
	_, err = transaction.Exec(p.t.Context(), "LOCK TABLE "+pgx.Identifier{table}.Sanitize()+" IN ACCESS EXCLUSIVE MODE")
	require.NoError(p.t, err)
	return func() {
		p.t.Helper()
		require.NoError(p.t, transaction.Rollback(p.t.Context()))
		require.NoError(p.t, connection.Close(p.t.Context()))
	}
}

// maintenance is a database that every cluster has.
const maintenance = "postgres"

func (p *Postgres) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, p.URL(database))
}

// Exhaust takes all of PostgreSQL's connections, including Temporal's, and keeps them until
// release.
func (p *Postgres) Exhaust() (release func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var taking sync.WaitGroup
	taking.Go(func() {
		held := []*pgx.Conn{}
		for ctx.Err() == nil {
			connection, err := p.connect(ctx, maintenance)
			if err == nil {
				held = append(held, connection)
				continue
			}
			if len(held) > 0 {
				_, _ = held[0].Exec(ctx, terminate)
			}
			select {
			case <-time.After(10 * time.Millisecond): // a connection may become free
			case <-ctx.Done():
			}
		}
		for _, connection := range held {
			_ = connection.Close(context.Background())
		}
	})
	return func() { cancel(); taking.Wait() }
}

// Freeze stops every process of the server.
func (p *Postgres) Freeze() { p.t.Helper(); p.signalAll(syscall.SIGSTOP) }

// Thaw resumes them.
func (p *Postgres) Thaw() { p.t.Helper(); p.signalAll(syscall.SIGCONT) }

// signalAll signals the server and its children, one for each connection.
func (p *Postgres) signalAll(signal syscall.Signal) {
	p.t.Helper()
	p.send(signal) // first, so that it makes no more children
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", p.PID()))
	require.NoError(p.t, err)
	for _, child := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(child)
		require.NoError(p.t, err)
		_ = syscall.Kill(pid, signal) // it may have ended since
	}
}
