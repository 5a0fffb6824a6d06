package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wakecall/wakecall/e2e/fault/oracle"
)

// Load is a plan that is being carried out.
type Load struct {
	plan   Plan
	client *client
	booked atomic.Int64
	done   sync.WaitGroup
	// settled counts the timers that the client has neither doubts nor plans about.
	settled atomic.Int64
}

// connections limits the client's concurrent calls.
const connections = 256

// Start begins to carry out a plan; ctx ends it early.
func Start(ctx context.Context, target Target, plan Plan) *Load {
	l := &Load{plan: plan, client: newClient(target, plan)}
	begin := time.Now()
	slots := make(chan struct{}, connections)
	l.done.Go(func() {
		for n := range plan.Timers {
			f := plan.course(n, begin)
			if !until(ctx, f.add) {
				return
			}
			l.done.Go(func() { l.live(ctx, f, slots) })
		}
	})
	return l
}

// live carries out the course of one timer.
func (l *Load) live(ctx context.Context, f course, slots chan struct{}) {
	if !l.add(ctx, f, slots) {
		return
	}
	l.booked.Add(1)
	defer l.settled.Add(1)
	if f.touch.IsZero() || !until(ctx, f.touch) {
		return
	}
	if !f.cancel {
		l.client.move(ctx, f.id, f.moveTo)
	}
	if f.cancel || l.plan.Regret {
		l.client.cancel(ctx, f.id)
	}
}

// The client waits this long before it repeats a call, at first and at the
// most.
const firstWait, longestWait = 200 * time.Millisecond, 2 * time.Second

// add repeats the add until it is known to have succeeded or to be refused.
func (l *Load) add(ctx context.Context, f course, slots chan struct{}) bool {
	doubt := false
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return false
		}
		call := l.client.add(ctx, f, doubt)
		<-slots
		if call.Outcome == oracle.OK || call.Status/100 == 4 {
			return call.Outcome == oracle.OK
		}
		doubt = doubt || call.Outcome == oracle.Unknown
		if !until(ctx, time.Now().Add(wait)) {
			return false
		}
	}
}

// Booked is the number of acknowledged adds so far.
func (l *Load) Booked() int { return int(l.booked.Load()) }

// Wait returns when every timer was booked or refused, and touched as planned.
func (l *Load) Wait() { l.done.Wait() }

// Calls are all calls so far.
func (l *Load) Calls() []oracle.Call { return l.client.log() }

// Close ends the client's idle connections.
func (l *Load) Close() { l.client.http.CloseIdleConnections() }

// until waits for a time, unless ctx ends first.
func until(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
