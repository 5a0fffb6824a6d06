package subject

import (
	"context"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/process"
)

// wakecallHouse is a form that Wakecall runs in.
type wakecallHouse interface {
	start(s *stage.Stage) (address, error)
	counters(ctx context.Context) (Counters, error)
}

// address is how a running house is reached.
type address struct{ api, key, temporal string }

// standaloneHouse is everything in one process, on SQLite.
type standaloneHouse struct{ dir string }

func (h *standaloneHouse) start(s *stage.Stage) (found address, err error) {
	err = s.Do(func() {
		house := process.NewHouse(s)
		house.Start()
		h.dir = house.Dir
		found = address{api: house.URL, temporal: house.Addr("WAKECALL_TEMPORAL_ADDR")}
	})
	return found, err
}

func (h *standaloneHouse) counters(context.Context) (Counters, error) { return dirCounters(h.dir) }

// productionHouse is what docker-compose.yml describes: both roles, Temporal's
// own server, PostgreSQL.
type productionHouse struct{ productionEngine }

func (h *productionHouse) start(s *stage.Stage) (address, error) {
	temporal, err := h.productionEngine.start(s)
	if err != nil {
		return address{}, err
	}
	err = s.Do(func() { h.production.Start("api", "worker") })
	return address{api: h.production.URL, key: h.production.Key, temporal: temporal}, err
}
