package subject

import (
	"context"
	"maps"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/process"
)

// deployment is a form in which Wakecall runs.
type deployment interface {
	start(s *stage.Stage) (address, error)
	counters(ctx context.Context) (Counters, error)
}

// address is the address of a running deployment.
type address struct{ api, key, temporal string }

// standaloneDeployment is everything in one process, on SQLite.
type standaloneDeployment struct {
	dir string
	env map[string]string // added to that of the process
}

func (d *standaloneDeployment) start(s *stage.Stage) (found address, err error) {
	err = s.Do(func() {
		env := process.NewStandalone(s)
		maps.Copy(env.Env, d.env)
		env.Start()
		d.dir = env.Dir
		found = address{api: env.URL, temporal: env.Addr("WAKECALL_TEMPORAL_ADDR")}
	})
	return found, err
}

func (d *standaloneDeployment) counters(context.Context) (Counters, error) { return dirCounters(d.dir) }

// productionDeployment is the deployment of docker-compose.yml: Wakecall's services,
// Temporal's own server, PostgreSQL.
type productionDeployment struct {
	productionEngine

	services []string
}

func (d *productionDeployment) start(s *stage.Stage) (address, error) {
	temporal, err := d.productionEngine.start(s)
	if err != nil {
		return address{}, err
	}
	err = s.Do(func() { d.production.Start(d.services...) })
	return address{api: d.production.URL, key: d.production.Key, temporal: temporal}, err
}
