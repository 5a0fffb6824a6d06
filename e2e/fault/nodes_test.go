package fault

import (
	"testing"
	"time"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// One of two nodes dies, again and again. What it was given as it was booked is taken over
// each time.
func TestOneOfTwoNodesKilled(t *testing.T) {
	longOnly(t)
	t.Parallel()
	p := newProduction(t, node, process.Direct)
	p.double()
	p.run(trial{fault: "kill -9 of one of two", plan: busy(750), limits: within(time.Minute, takenOver), strike: func(*load.Load) {
		for range 5 {
			p.pause(p.between(time.Second, 3*time.Second))
			p.awaitHeld()
			p.crash(p.worker)
		}
	}})
}
