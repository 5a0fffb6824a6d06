package preload

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Runs returns what Temporal knows of a timer's run.
type Runs interface {
	// Revoked is why a worker with the run's task must not make its attempt; "" if it may.
	Revoked(ctx context.Context, key wire.Key, hold timer.Hold) (delivery.Result, error)
}

// Tasks are the tasks of this process. A run has one at most.
type Tasks interface {
	// TimedOut reports whether Temporal has given up a run's task: another worker may have it.
	TimedOut(run string) bool
	// Hold identifies this process's task of the run, with the time it got the task and the
	// time it got its first one; zero if unknown.
	Hold(run string) (attempt int, startedAt, beganAt time.Time)
	// Predecessor is the worker that had the run's task before this process; "" for none.
	Predecessor(run string) (worker string)
}

// Failover tells whether this process may still take for its own what it was handed.
type Failover interface {
	// CutOff reports whether other workers may have been given the timers of this one after a
	// moment.
	CutOff(since time.Time) bool
	// Heard reports whether the other workers know that this one lives.
	Heard() bool
}

// Policies returns the policy of a business type.
type Policies interface {
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
}

// Places bounds how many timers this process preloads.
type Places interface {
	// Enter takes a place. It reports false if Temporal could not record so many preloaded
	// timers before their tasks time out.
	Enter(memo timer.Memo) (leave func(), ok bool)
}

// Observer counts preloaded timers.
type Observer interface {
	// Preloaded counts timers that begin, or cease, to be preloaded here.
	Preloaded(change int)
	// Released counts timers that were released before they were due.
	Released(how delivery.Result)
}

// Config configures a [Preloader].
type Config struct {
	Runs     Runs
	Tasks    Tasks
	Failover Failover
	Policies Policies
	Places   Places
	Observer Observer
}

// Preloader waits for timers until they are due. It is safe for concurrent use.
type Preloader struct {
	Config

	// wakeups trigger rechecks of preloaded timers, by run id.
	wakeups wakeups
	// stopping is closed when this process stops.
	stopping chan struct{}
}

// New returns a Preloader.
func New(config Config) *Preloader {
	return &Preloader{Config: config, stopping: make(chan struct{})}
}

// Await waits in memory until a timer is due. It must be called from an activity of the
// timer's run. An empty result means that the timer must ring now. Any other result is the
// reason why this worker does not ring it.
//
// Temporal tells a worker nothing about a timer whose workflow task it has. So Await
// rechecks shortly before the timer is due, and again at each [Preloader.Recheck]: it is
// certain to see a change that was durable before.
func (p *Preloader) Await(ctx context.Context, spec timer.Spec) (delivery.Result, error) {
	h := p.hold(ctx, spec)
	wait := h.due.Until(time.Now())
	if wait <= 0 {
		return h.recheckIfLate(ctx)
	}
	if wait > spec.Lead()+tuning.ClockSkew {
		return delivery.ResultUseQueue, nil
	}
	leave, ok := p.Places.Enter(spec.Memo)
	if !ok && wait > tuning.ShortPreload {
		return h.release(delivery.ResultRejected)
	}
	if ok {
		defer leave()
	}
	p.Observer.Preloaded(1)
	defer p.Observer.Preloaded(-1)
	return h.awaitDue(ctx)
}

// Confirm rechecks a timer that must ring now, if what [Preloader.Await] has learned is of too long ago. since is when
// that was. The settings of the attempt or a slot may have taken long, or another worker may have been given the timer.
// The result is that of Await.
func (p *Preloader) Confirm(ctx context.Context, spec timer.Spec, since time.Time) (delivery.Result, error) {
	old := time.Since(since) > tuning.ConfirmedFor
	if !old && !p.Failover.CutOff(since) {
		return "", nil
	}
	h := p.hold(ctx, spec)
	h.checked = since
	if old {
		if result, err := h.recheck(ctx); result != "" || err != nil {
			return result, err
		}
	}
	return h.recheckIfCutOff(ctx)
}

// hold returns the timer as this process holds it.
func (p *Preloader) hold(ctx context.Context, spec timer.Spec) *held {
	run := activity.GetInfo(ctx).WorkflowExecution.RunID
	_, _, since := p.Tasks.Hold(run)
	checked := time.Now()
	if !since.IsZero() && since.Before(checked) { // by Temporal's clock
		checked = since
	}
	return &held{Preloader: p, spec: spec, run: run, since: since, checked: checked, due: spec.RingsAt()}
}

// Recheck makes this process recheck a preloaded timer at once.
func (p *Preloader) Recheck(run string) { p.wakeups.notify(run) }

// ReleaseAll releases every preloaded timer to other workers, from now on. It must be called
// once.
func (p *Preloader) ReleaseAll() { close(p.stopping) }
