package systems

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/engine/namespace"
	"github.com/wakecall/wakecall/standalone/embedded"
)

// temporalEngine is a Temporal server for the bare loops: the same as
// Wakecall's, with the same settings.
type temporalEngine interface {
	start(s *stage.Stage) (addr string, err error)
	counters(ctx context.Context) (Counters, error)
}

// embeddedEngine is Temporal on SQLite, in this process.
type embeddedEngine struct{ dir string }

// The settings of the standalone form.
const (
	shards      = 4
	synchronous = "full"
	retention   = 720 * time.Hour
)

func (e *embeddedEngine) start(s *stage.Stage) (addr string, err error) {
	addr, e.dir = loopback.Addr(), s.TempDir()
	server, err := embedded.Start(embedded.Options{
		Addr: addr, DataDir: e.dir, Namespace: client.DefaultNamespace, Retention: retention, Shards: shards,
		Synchronous: synchronous, SearchAttributes: namespace.SearchAttributes(),
	})
	if err != nil {
		return "", err
	}
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Stop(ctx) // the process ends anyway
	})
	return addr, nil
}

func (e *embeddedEngine) counters(context.Context) (Counters, error) { return dirCounters(e.dir) }

// productionEngine is Temporal's own server on PostgreSQL, as in
// docker-compose.yml.
type productionEngine struct {
	// untuned selects Temporal's default settings, to measure the gain of the tuning.
	untuned    bool
	production *process.Production
}

func (e *productionEngine) start(s *stage.Stage) (addr string, err error) {
	err = s.Do(func() {
		if e.untuned {
			e.production = process.NewUntuned(s, durable)
			return
		}
		e.production = process.NewProduction(s, process.Direct, durable)
	})
	if err != nil {
		return "", err
	}
	return e.production.TemporalAddr(), nil
}

func (e *productionEngine) counters(ctx context.Context) (Counters, error) {
	return postgresCounters(ctx, e.production.Postgres.URL("postgres"))
}
