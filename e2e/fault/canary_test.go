package fault

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
)

// noticedWithin is the promise of the canary, from the beginning of a fault.
const noticedWithin = 90 * time.Second

// The canary of a gateway notices each of these faults, and is content before and after it.
func TestTheCanaryNotices(t *testing.T) {
	longOnly(t)
	t.Parallel()
	n := newNetwork(t)
	p := newProduction(t, roles, n.via)
	for name, strike := range p.canaryFaults(n) {
		t.Run(name, func(t *testing.T) { p.again(t).requireNoticed(p.gateway, strike) })
	}
}

// The standalone form meets the faults of a disk.
func TestTheCanaryNoticesAFullDisk(t *testing.T) {
	longOnly(t)
	t.Parallel()
	s := newStandaloneIn(t, newDisk(t, 64))
	s.requireNoticed("standalone", func() (mend func()) {
		free := s.fill(s.deployment.Dir)
		stop := s.bookOn()
		return func() { stop(); free() }
	})
}

// bookOn books timers until it is stopped. It returns once one is refused: files have room
// left when the disk is full.
func (b *bench) bookOn() (stop func()) {
	b.t.Helper()
	var booking sync.WaitGroup
	ctx, cancel := context.WithCancel(b.t.Context())
	refused := make(chan struct{}, 1)
	booking.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			timer := contract.JSON{"business_type": b.kind, "business_id": fmt.Sprintf("fills-%d", n), "delay": "1h"}
			if status, _, err := b.api.Try("POST", "/v1/timers", timer); err == nil && status == http.StatusServiceUnavailable {
				select {
				case refused <- struct{}{}:
				default:
				}
			}
		}
	})
	select {
	case <-refused:
	case <-time.After(2 * time.Minute):
		b.t.Error("the disk should be full")
	}
	return func() { cancel(); booking.Wait() }
}

// canaryFaults are faults that stop timers. Each returns its mend.
func (p *production) canaryFaults(n *network) map[string]func() (mend func()) {
	const table, away, readOnly = "executions_visibility", "away", "ALTER DATABASE temporal SET default_transaction_read_only = "
	postgres, faults := p.deployment.Postgres, map[string]func() func(){
		"no connections left": p.deployment.Postgres.Exhaust,
		"visibility locked":   func() func() { return p.deployment.Postgres.Lock("temporal_visibility", table) },
	}
	for _, victim := range []string{"postgres", "temporal", p.worker} {
		faults[victim+" killed"] = func() func() {
			p.living[victim].Kill()
			return func() { p.revive(victim) }
		}
		faults[victim+" frozen"] = func() func() {
			p.freeze(victim)
			return func() { p.thaw(victim) }
		}
	}
	for victim, ahead := range map[string]time.Duration{p.gateway: time.Minute, "temporal": -time.Minute, p.worker: -time.Minute} {
		faults[victim+"'s clock off by "+ahead.String()] = func() func() {
			p.living[victim].SetClock(ahead)
			return func() { p.living[victim].SetClock(0) }
		}
	}
	for _, link := range []string{"api and temporal", "worker and temporal", "temporal and postgres"} {
		faults["network between "+link+" cut"] = func() func() { return cuts["silent"](p.t, n.link(link)) }
	}
	faults["visibility gone"] = func() func() {
		rename := func(from, to string) { postgres.Exec("temporal_visibility", "ALTER TABLE "+from+" RENAME TO "+to) }
		rename(table, away)
		return func() { rename(away, table) }
	}
	faults["database read-only"] = func() func() {
		set := func(value string) {
			postgres.Exec("temporal_visibility", readOnly+value)
			postgres.Terminate()
		}
		set("on")
		return func() { set("off") }
	}
	return faults
}

func (n *network) link(name string) *toxiproxy.Proxy {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links[name]
}

// requireNoticed lets a fault strike, and requires that the gateway's canary names it in time.
func (b *bench) requireNoticed(gateway string, strike func() (mend func())) {
	b.t.Helper()
	content := func(why string) {
		require.Eventually(b.t, func() bool {
			failed, measured := b.canary(gateway)
			return measured && failed == ""
		}, 4*time.Minute, time.Second, why)
	}
	content("all is well at first")
	began, step := time.Now(), ""
	mend := strike()
	require.Eventually(b.t, func() bool {
		step, _ = b.canary(gateway)
		return step != ""
	}, noticedWithin, time.Second, "the fault should be noticed")
	b.t.Logf("noticed after %s, at the step %q", time.Since(began).Round(time.Second), step)
	mend()
	content("all is well again")
}

var (
	canaryFailed   = regexp.MustCompile(`(?m)^wakecall_canary_failed\{step="(\w+)"\} 1$`)
	canaryMeasured = regexp.MustCompile(`(?m)^wakecall_canary_step_seconds\{step="list"\} `)
)

// canary returns the step at which a gateway's last timer failed, empty for none, and whether
// one has been measured.
func (b *bench) canary(gateway string) (failed string, measured bool) {
	text, err := b.living[gateway].Metrics()
	if err != nil {
		return "", false
	}
	if step := canaryFailed.FindStringSubmatch(text); step != nil {
		failed = step[1]
	}
	return failed, canaryMeasured.MatchString(text)
}
