package systems

import (
	"fmt"
	"maps"
	"slices"
)

// makers make the subjects by their names.
var makers = map[string]func() Subject{
	"wakecall/sqlite":          func() Subject { return &wakecall{deployment: &standaloneDeployment{}} },
	"wakecall-rabbitmq/sqlite": func() Subject { return &rabbitmq{} },
	"wakecall/postgres": func() Subject {
		return &wakecall{deployment: &productionDeployment{services: []string{"api", "worker"}}}
	},
	"wakecall-serve/postgres": func() Subject { return &wakecall{deployment: &productionDeployment{services: []string{"wakecall"}}} },
	"temporal-sleep/sqlite":   func() Subject { return &loop{engine: &embeddedEngine{}, start: sleepThenActivity} },
	"temporal-sleep/postgres": func() Subject { return &loop{engine: &productionEngine{}, start: sleepThenActivity} },
	"temporal-delay/sqlite":   func() Subject { return &loop{engine: &embeddedEngine{}, start: delayThenActivity} },
	"temporal-delay/postgres": func() Subject { return &loop{engine: &productionEngine{}, start: delayThenActivity} },
	"temporal-local/sqlite":   func() Subject { return &schedules{loop{engine: &embeddedEngine{}, start: delayThenLocal}} },
	"temporal-local/postgres": func() Subject { return &schedules{loop{engine: &productionEngine{}, start: delayThenLocal}} },
	"temporal-sleep/postgres-untuned": func() Subject {
		return &loop{engine: &productionEngine{untuned: true}, start: sleepThenActivity}
	},
	"temporal-local/postgres-untuned": func() Subject {
		return &schedules{loop{engine: &productionEngine{untuned: true}, start: delayThenLocal}}
	},
	"temporal-activity/sqlite":   func() Subject { return &standalone{loop{engine: &embeddedEngine{}}} },
	"temporal-activity/postgres": func() Subject { return &standalone{loop{engine: &productionEngine{}}} },
	"river/postgres":             func() Subject { return &riverQueue{} },
	"asynq/redis":                func() Subject { return &asynqQueue{} },
	"dbos/postgres":              func() Subject { return &peer{name: "dbos", store: &peerPostgres{}} },
	"nats/default":               func() Subject { return &peer{name: "nats", store: &peerDir{}} },
	"nats/always":                func() Subject { return &peer{name: "nats-always", store: &peerDir{}} },
}

// Names are the names of all subjects, in order.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }

// New makes a subject that is not started.
func New(name string) (Subject, error) {
	maker, known := makers[name]
	if !known {
		return nil, fmt.Errorf("no subject %q; there are %q", name, Names())
	}
	return maker(), nil
}
