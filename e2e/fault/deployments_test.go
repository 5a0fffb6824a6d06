package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/process"
)

// standalone is a bench on the form with everything in one process.
type standalone struct {
	*bench
	deployment *process.Standalone
}

func newStandalone(t *testing.T) *standalone { return newStandaloneIn(t, t.TempDir()) }

// newStandaloneIn keeps its data in a directory.
func newStandaloneIn(t *testing.T, dir string) *standalone {
	env := process.NewStandalone(t)
	env.Dir = dir
	s := &standalone{bench: newBench(t, env.API), deployment: env}
	s.living["standalone"] = env.Start()
	s.policy(s.witness.URL)
	return s
}

// again is a bench for one more trial on the same deployment.
func (s *standalone) again(t *testing.T) *standalone {
	next := &standalone{bench: s.bench.again(t), deployment: s.deployment}
	next.policy(next.witness.URL)
	return next
}

// crash kills the process and starts it again.
func (s *standalone) crash() {
	f := s.breaks(true)
	s.living["standalone"].Kill()
	s.heals(f)
	s.living["standalone"] = s.deployment.Start()
}

// production is a bench on the production form: PostgreSQL, Temporal, and Wakecall in one
// of its forms.
type production struct {
	*bench
	form
	deployment *process.Production
}

func newProduction(t *testing.T, of form, via process.Via) *production {
	env := process.NewProduction(t, via)
	p := &production{bench: newBench(t, env.API), form: of, deployment: env}
	p.prefix = of.label
	p.living = map[string]*process.Process{"postgres": env.Postgres.Process, "temporal": env.Temporal}
	for i, process := range env.Start(of.services()...) {
		p.living[of.services()[i]] = process
	}
	p.policy("http://" + via("worker", "receiver", p.witness.Addr) + "/")
	return p
}

// again is a bench for one more trial on the same deployment.
func (p *production) again(t *testing.T) *production {
	next := &production{bench: p.bench.again(t), form: p.form, deployment: p.deployment}
	next.policy(next.witness.URL)
	return next
}

// crash kills services at once, and starts them again in the given order.
func (p *production) crash(services ...string) {
	f := p.breaks(true)
	for _, service := range services {
		p.living[service].Kill()
	}
	p.heals(f)
	p.revive(services...)
}

func (p *production) revive(services ...string) {
	for _, service := range services {
		if service == "postgres" {
			p.deployment.Postgres.Start()
			p.living[service] = p.deployment.Postgres.Process
			continue
		}
		p.living[service] = p.deployment.Revive(service)
	}
}

// pause lets the load run on for a while.
func (b *bench) pause(span time.Duration) {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.t.Context().Done():
	}
}

// between is a random span, drawn from the seed.
func (b *bench) between(least, most time.Duration) time.Duration {
	return least + time.Duration(b.random.Int64N(int64(most-least)))
}

// inFlight is enough attempts in flight for a fault to hit some.
const inFlight = 5

// awaitHeld waits until the witness delays that many callers.
func (b *bench) awaitHeld() {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.witness.Held() >= inFlight }, 3*time.Minute, time.Millisecond,
		"attempts should be in flight")
}

// awaitBooked waits until n timers are booked.
func (b *bench) awaitBooked(l *load.Load, n int) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return l.Booked() >= n }, 2*time.Minute, time.Millisecond, "the load should go on")
}
