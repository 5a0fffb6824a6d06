package failover

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine/holds"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// TakenOver is how late a timer of a dead worker may be called, after its due time or after
// the worker died or the only one came back: what is promised.
const TakenOver = 15 * time.Second

// Observer observes what a process learns of the others.
type Observer interface {
	// Died reports a worker that is taken for dead from now on.
	Died(worker string)
	// Revived reports a worker that was taken for dead and lives: it stood still, or the verdict
	// was wrong.
	Revived(worker string)
	// Freed counts timers that were taken from dead workers.
	Freed(timers int)
	// Failed reports the error of a step, which is repeated. Of errors in a row it reports one.
	Failed(err error)
}

// Failover gives the signs of life of one worker process, watches those of the others, and
// frees what dead ones held. Its zero value is of no use. It is safe for concurrent use.
type Failover struct {
	Config

	kernel *kernel.Kernel
	signs  Signs
	holds  *holds.Holds
	watch  *watch
	// missing are the tasks that were lost on their way to this process.
	missing missing
	// held and attempts are the searches for what dead workers had.
	held, attempts *search

	// heard is how Temporal has heard of this process; nil where it keeps no signs.
	heard    atomic.Pointer[streak]
	stopping atomic.Bool
	// hasten carries a value when the next sign must not wait.
	hasten chan struct{}
}

// Tasks are the workflow tasks of this process.
type Tasks interface {
	// Has reports whether this process has a task of a run now, and since when.
	Has(run string) (since time.Time, ok bool)
	// Got reports whether this process got a task of a run, which it started by an event.
	Got(run string, startedID int64) bool
}

// Config is what a [Failover] needs to know of its process.
type Config struct {
	// Worker is the identity of the process.
	Worker   string
	Tasks    Tasks
	Trouble  *Trouble
	Observer Observer
	// Ended reports whether the process of a worker has certainly ended.
	Ended func(worker string) bool
	// About describes the process. It is sent with each sign.
	About func() health.About
}

// New returns the failover of a worker process.
func New(k *kernel.Kernel, config Config) *Failover {
	f := &Failover{
		Config: config, kernel: k, signs: NewSigns(k), holds: holds.New(k), watch: newWatch(config.Worker, config.Ended),
		hasten: make(chan struct{}, 1),
	}
	f.held, f.attempts = newSearch(newSweep(f)), newSearch(newAttempts(f))
	return f
}

// Begin gives the first sign. It must come before this process takes its first task: a
// worker without a sign may be taken for dead.
func (f *Failover) Begin(ctx context.Context) error { return f.giveSign(ctx) }

// Run gives signs, watches and frees, until ctx is done.
func (f *Failover) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { f.repeat(ctx, tuning.SignEvery, f.hasten, f.giveSign) })
	running.Go(func() { f.repeat(ctx, tuning.SignEvery/2, nil, f.judgeOthers) }) // each look shows one more sign
	running.Go(func() { f.held.run(ctx, f.Observer) })
	running.Go(func() { f.attempts.run(ctx, f.Observer) })
	running.Go(func() { f.Trouble.watch(ctx, f.held.afterTrouble) })
	running.Wait()
}

// Stop makes each sign say that this process stops. The first such sign is given at once: the
// others must see one before [Failover.End], or they take this process for dead. Signs are given
// until the attempts under way have ended.
func (f *Failover) Stop() {
	f.stopping.Store(true)
	signal(f.hasten)
}

// End removes the sign of this process. Nothing may be held by it any more.
func (f *Failover) End(ctx context.Context) error { return f.signs.End(ctx, f.Worker) }

// Crashed reports whether a worker is dead, has not rung a timer, and cannot have stored a receipt
// of it. due is when the timer was due.
func (f *Failover) Crashed(worker string, due time.Time) bool {
	return f.watch.crashed(worker, due, time.Now())
}

// Lives reports whether another worker has lately given a sign of life. It is false for a worker
// that was never seen, and while no worker can be judged.
func (f *Failover) Lives(worker string) bool { return f.watch.lives(worker, time.Now()) }

// CutOff reports whether another worker may have been given the timers of this process after a
// moment: for a while no sign of it has reached Temporal, now or since then.
func (f *Failover) CutOff(since time.Time) bool { return f.heard.Load().broken(since, time.Now()) }

// Heard reports whether the other workers know that this one lives, so that they take nothing from
// it any more.
func (f *Failover) Heard() bool { return f.heard.Load().seen(time.Now()) }

// repeat calls do every [tuning.SignEvery], for the first time after first, and at once for each
// value from hasten. It reports one of several failures in a row.
func (f *Failover) repeat(ctx context.Context, first time.Duration, hasten <-chan struct{}, do func(context.Context) error) {
	next := time.NewTicker(first)
	defer next.Stop()
	failing := false
	for {
		select {
		case <-next.C:
		case <-hasten:
		case <-ctx.Done():
			return
		}
		next.Reset(tuning.SignEvery)
		err := do(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			f.Observer.Failed(err)
		}
		failing = err != nil
	}
}

// giveSign gives one sign, and records whether Temporal has heard it.
func (f *Failover) giveSign(ctx context.Context) error {
	at := time.Now()
	err := f.signs.Give(ctx, Sign{Worker: f.Worker, At: at, Stopping: f.stopping.Load(), About: f.About()})
	f.heard.Store(f.heard.Load().next(at, time.Now(), err))
	return err
}

// judgeOthers judges the other workers by their signs.
func (f *Failover) judgeOthers(ctx context.Context) error {
	asked := time.Now()
	signs, err := f.signs.List(ctx)
	if err != nil {
		return err
	}
	v := f.watch.observe(signs, asked, time.Now())
	for _, worker := range v.revived {
		f.Observer.Revived(worker)
	}
	for _, worker := range v.died {
		f.Observer.Died(worker)
		if err := f.signs.EndPolls(ctx, worker); err != nil {
			f.Observer.Failed(err)
		}
	}
	if len(v.died)+len(v.lost) > 0 {
		f.held.afterDeath()
		f.attempts.afterDeath()
	}
	return nil
}
