package preset

import (
	"fmt"
	"time"

	"github.com/wakecall/wakecall/bench/scenario"
)

// sizes are the sizes of a preset.
type sizes struct {
	subjects []string
	rounds   int
	// rates are the rates of the steady load per second, and steady is its length.
	rates  []int
	steady time.Duration
	// herd is how many timers fall due at one instant.
	herd int
	// mass is how many callbacks a dispatch makes; job queues use a job for each.
	mass int
	// ahead is how long before their instant the last of them is booked: Wakecall hands out
	// an unannounced crowd over up to a minute.
	ahead time.Duration
	// soon is how long before their instant the first timer of a late herd is booked: too
	// late to hand the herd out ahead.
	soon time.Duration
	// preload is how long the second herd is held in memory.
	preload time.Duration
	// calls is the length of each booking scenario, and batch the number of timers per call.
	calls time.Duration
	batch int
	// mixed and recurring are the lengths of those scenarios.
	mixed, recurring time.Duration
	// crash is how long bookings go on until the subject is killed.
	crash time.Duration
	// pending is how many timers are booked for later; 0 for none, as in both presets.
	pending int
}

// full is the preset of docs/performance-data.md, and small is the preset for trying a change.
var (
	full = sizes{
		subjects: []string{
			"wakecall/sqlite", "wakecall-rabbitmq/sqlite", "temporal-local/sqlite", "temporal-sleep/sqlite", "asynq/redis",
			"wakecall-serve/postgres", "wakecall/postgres", "temporal-local/postgres", "temporal-sleep/postgres", "river/postgres",
			"dbos/postgres", "nats/default", "nats/always",
		},
		rounds: 3, rates: []int{10, 50, 100}, steady: 20 * time.Second,
		herd: 3000, mass: 20_000, ahead: time.Minute, soon: 20 * time.Second, preload: time.Minute,
		calls: 5 * time.Second, batch: 1000, mixed: 15 * time.Second, recurring: 15 * time.Second, crash: 5 * time.Second,
	}
	small = sizes{
		subjects: []string{
			"wakecall/sqlite", "temporal-local/sqlite", "temporal-sleep/sqlite", "asynq/redis",
			"wakecall-serve/postgres", "wakecall/postgres", "river/postgres", "dbos/postgres", "nats/default", "nats/always",
		},
		rounds: 1, rates: []int{50}, steady: 4 * time.Second,
		herd: 300, mass: 3000, ahead: 10 * time.Second, soon: 10 * time.Second, preload: 10 * time.Second,
		calls: time.Second, batch: 100, mixed: 2 * time.Second, recurring: 4 * time.Second, crash: 2 * time.Second,
	}
)

const (
	openRate  = 100
	mixedRate = 50
	// pendingRate is the rate of the ringing timers while others are booked.
	pendingRate = 4
	// Twenty schedules a second stay below the 30 starts a second that Temporal
	// allows a namespace's schedules.
	recurringTimers = 20
	recurringEvery  = time.Second
	// crashRate is the rate of bookings until the subject is killed, below what each subject
	// takes. The timers are due crashAhead after that: time enough to start again.
	crashRate  = 200
	crashAhead = 20 * time.Second
)

// plans are the scenarios that have a size.
func (s sizes) plans() (plans []scenario.Plan) {
	for _, rate := range s.rates {
		plans = append(plans, scenario.Plan{
			Name: fmt.Sprintf("steady-%d", rate), Kind: scenario.Ring, Timers: int(s.steady.Seconds()) * rate, Over: s.steady,
		})
	}
	plans = append(plans, scenario.Plan{Name: "herd", Kind: scenario.Ring, Timers: s.herd, Ahead: s.ahead})
	plans = append(plans, scenario.Plan{Name: "mass", Kind: scenario.Ring, Timers: s.mass, Within: s.soon, Mass: true})
	plans = append(plans, scenario.Plan{Name: "herd-soon", Kind: scenario.Ring, Timers: s.herd, Within: s.soon})
	if s.preload > 0 {
		plans = append(plans, scenario.Plan{Name: "herd-preload", Kind: scenario.Ring, Timers: s.herd, Preload: s.preload})
	}
	plans = append(plans,
		scenario.Plan{Name: "mixed", Kind: scenario.Mixed, For: s.mixed, Rate: mixedRate},
		scenario.Plan{Name: "recurring", Kind: scenario.Recurring, Timers: recurringTimers, For: s.recurring, Every: recurringEvery},
		scenario.Plan{Name: "adds-open", Kind: scenario.AddsOpen, For: s.calls, Rate: openRate},
		scenario.Plan{Name: "adds", Kind: scenario.Adds, For: s.calls},
		scenario.Plan{Name: "adds-batch", Kind: scenario.AddsBatch, For: s.calls, Timers: s.batch},
	)
	for _, power := range []bool{false, true} {
		name := map[bool]string{false: "kill", true: "power-cut"}[power]
		plans = append(plans, scenario.Plan{
			Name: name, Kind: scenario.Crash, For: s.crash, Rate: crashRate, Ahead: crashAhead, Power: power,
		})
	}
	if s.pending > 0 {
		plans = append(plans, scenario.Plan{Name: "pending", Kind: scenario.Pending, Timers: s.pending, Rate: pendingRate})
	}
	return plans
}
