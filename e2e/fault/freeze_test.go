package fault

import (
	"testing"
	"time"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// A frozen process keeps its connections and says nothing: who waits for it
// must not wait forever. The freeze outlasts the workflow task timeout, so that
// what the worker held is handed to another one.
func TestFrozen(t *testing.T) {
	longOnly(t)
	for _, victim := range all {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			p := newProduction(t, process.Direct)
			if victim == "worker" {
				p.living["other worker"] = p.house.Beside("worker")
			}
			p.run(trial{fault: victim + " frozen for 20 s", plan: busy(750), strike: func(*load.Load) {
				for range 2 {
					p.awaitHeld()
					f := p.breaks(true)
					p.freeze(victim)
					p.pause(20 * time.Second)
					p.heals(f)
					p.thaw(victim)
					p.pause(5 * time.Second)
				}
			}})
		})
	}
}

func (p *production) freeze(service string) {
	if service == "postgres" {
		p.house.Postgres.Freeze()
		return
	}
	p.living[service].Freeze()
}

func (p *production) thaw(service string) {
	if service == "postgres" {
		p.house.Postgres.Thaw()
		return
	}
	p.living[service].Thaw()
}
