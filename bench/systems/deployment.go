package systems

import (
	"context"
	"maps"

	"github.com/wakecall/wakecall/bench/stage"
	"github.com/wakecall/wakecall/e2e/process"
)

// deployment is a form in which Wakecall runs.
type deployment interface {
	start(s *stage.Stage) (address, error)
	kill(s *stage.Stage) error
	revive(s *stage.Stage) error
	counters(ctx context.Context) (Counters, error)
}

// address is the address of a running deployment.
type address struct{ api, key, temporal string }

// standaloneDeployment is everything in one process, on SQLite.
type standaloneDeployment struct {
	server  *process.Standalone
	process *process.Process
	env     map[string]string // added to that of the process
}

func (d *standaloneDeployment) start(s *stage.Stage) (found address, err error) {
	err = s.Do(func() {
		d.server = process.NewStandalone(s)
		maps.Copy(d.server.Env, d.env)
		d.process = d.server.Start()
		found = address{api: d.server.URL, temporal: d.server.Addr("WAKECALL_TEMPORAL_ADDR")}
	})
	return found, err
}

func (d *standaloneDeployment) kill(s *stage.Stage) error { return s.Do(d.process.Kill) }

func (d *standaloneDeployment) revive(s *stage.Stage) error {
	return s.Do(func() { d.process = d.server.Start() })
}

func (d *standaloneDeployment) counters(context.Context) (Counters, error) {
	return dirCounters(d.server.Dir)
}

// productionDeployment is the deployment of docker-compose.yml: Wakecall's services,
// Temporal's own server, PostgreSQL.
type productionDeployment struct {
	productionEngine

	services []string
	running  []*process.Process
}

func (d *productionDeployment) start(s *stage.Stage) (address, error) {
	temporal, err := d.productionEngine.start(s)
	if err != nil {
		return address{}, err
	}
	err = s.Do(func() { d.running = d.production.Start(d.services...) })
	return address{api: d.production.URL, key: d.production.Key, temporal: temporal}, err
}

// kill ends everything at once.
func (d *productionDeployment) kill(s *stage.Stage) error {
	return s.Do(func() {
		for _, running := range append(d.running, d.production.Temporal, d.production.Postgres.Process) {
			running.Kill()
		}
	})
}

// revive starts everything, the store first, and again what ends before that is ready.
func (d *productionDeployment) revive(s *stage.Stage) error {
	return s.Do(func() {
		d.production.Postgres.Start()
		d.production.Temporal = d.production.Revive("temporal")
		for i, service := range d.services {
			d.running[i] = d.production.Revive(service)
		}
	})
}
