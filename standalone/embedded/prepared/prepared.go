// Package prepared makes a driver of database/sql cache the prepared statements of a connection.
// Otherwise each SQL text is parsed and planned again; SQLite spends more on that than on the
// execution.
package prepared

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
)

// kept is how many statements each connection caches, the latest used. Temporal has some 120 for
// SQLite; lists of visibility differ in their text.
const kept = 256

// Connector returns a connector of connections that cache their statements.
func Connector(of driver.Driver, dsn string) driver.Connector {
	return connector{driver: of, dsn: dsn}
}

type connector struct {
	driver driver.Driver
	dsn    string
}

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return c.driver }

// Connect implements [driver.Connector].
func (c connector) Connect(context.Context) (driver.Conn, error) {
	raw, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	under, ok := raw.(underlying)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T does not do all that is passed on to it", raw), raw.Close())
	}
	statements, err := lru.NewWithEvict(kept, func(_ string, s *statement) { s.evict() })
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return &conn{underlying: under, statements: statements}, nil
}

// underlying is the required interface of a connection.
type underlying interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection that caches its statements. database/sql uses a connection from one
// goroutine at a time.
type conn struct {
	underlying

	statements *lru.Cache[string, *statement]
}

// statement is a prepared statement. One result uses it at a time.
type statement struct {
	able

	inUse, evicted bool
}

// able is the required interface of a statement.
type able interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func (s *statement) evict() {
	s.evicted = true
	if !s.inUse {
		_ = s.Close()
	}
}

func (s *statement) release() {
	s.inUse = false
	if s.evicted {
		_ = s.Close()
	}
}

// ExecContext implements [driver.ExecerContext].
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.acquire(ctx, query)
	if err != nil {
		return nil, err
	}
	defer s.release()
	return s.ExecContext(ctx, args)
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.acquire(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		s.release()
		return nil, err
	}
	return &result{Rows: rows, statement: s}, nil
}

// acquire returns the statement of a query. If a result still uses the cached one, it returns a new
// statement that is not cached.
func (c *conn) acquire(ctx context.Context, query string) (*statement, error) {
	if s, ok := c.statements.Get(query); ok && !s.inUse {
		s.inUse = true
		return s, nil
	}
	raw, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	ready, ok := raw.(able)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T does not do all that is asked of it", raw), raw.Close())
	}
	s := &statement{able: ready, inUse: true}
	if c.statements.Contains(query) {
		s.evicted = true
		return s, nil
	}
	c.statements.Add(query, s)
	return s, nil
}

// Close closes the cached statements, then the connection.
func (c *conn) Close() error {
	c.statements.Purge()
	return c.underlying.Close()
}

// result returns its statement after it has been read.
type result struct {
	driver.Rows

	statement *statement
}

// Close implements [driver.Rows].
func (r *result) Close() error {
	defer r.statement.release()
	return r.Rows.Close()
}
