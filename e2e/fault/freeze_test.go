package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/fault/load"
	"github.com/wakecall/wakecall/e2e/fault/oracle"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/sample"
)

// A frozen process keeps its connections and says nothing: who waits for it
// must not wait forever. The freeze outlasts the workflow task timeout, so that
// what the worker held is handed to another one.
func TestFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		for _, victim := range of.all() {
			t.Run(victim, func(t *testing.T) {
				t.Parallel()
				p := newProduction(t, of, process.Direct)
				limits, breaks := limits, func() *oracle.Fault { return p.breaks(true) }
				if victim == of.worker {
					p.beside(of.worker)
					limits, breaks = within(time.Minute, takenOver), p.stops
				}
				p.run(trial{fault: victim + " frozen for 20 s", plan: busy(750), limits: limits, strike: func(*load.Load) {
					for range 2 {
						p.awaitHeld()
						f := breaks()
						p.freeze(victim)
						p.pause(20 * time.Second)
						p.heals(f)
						p.thaw(victim)
						p.pause(afterwards)
					}
				}})
			})
		}
	})
}

// afterwards is as long as two cores need for what has waited for a process that stood still: all
// of it is called at once, and must be recorded before the next fault.
const afterwards = 15 * time.Second

// A moment without the database makes nothing late that a worker holds: the worker
// has the policy at hand, and Temporal knows the run without reading it.
func TestFrozenForAMoment(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		const freeze = 700 * time.Millisecond
		plan := idle(750)
		_, summary := p.run(trial{fault: "PostgreSQL frozen for 0.7 s, 8 times", plan: plan, strike: func(l *load.Load) {
			p.awaitBooked(l, plan.Timers)
			require.Eventually(t, func() bool { return p.witness.Count() > 0 }, time.Minute, 10*time.Millisecond, "they ring")
			for range 8 {
				f := p.breaks(true)
				p.freeze("postgres")
				p.pause(freeze)
				p.heals(f)
				p.thaw("postgres")
				p.pause(3 * time.Second)
			}
		}})
		require.Less(t, summary.P99, freeze/2, "nothing waits for the end of the freeze")
	})
}

// Timers that a worker holds are moved while the database stands still: a question
// that nobody answers ends no timer.
func TestMovedWhilePostgresIsFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.policy(p.witness.URL, contract.JSON{"preload": preload.String()})
		plan := load.Plan{Timers: 500, Over: 20 * time.Second, Lead: 50 * time.Second, Spread: 5 * time.Second, Move: 1}
		p.run(trial{fault: "PostgreSQL frozen for 8 s while held timers are moved, 3 times", plan: plan, strike: func(l *load.Load) {
			p.awaitBooked(l, plan.Timers*3/4)
			for range 3 {
				f := p.breaks(true)
				p.freeze("postgres")
				p.pause(8 * time.Second)
				p.heals(f)
				p.thaw("postgres")
				p.pause(4 * time.Second)
			}
		}})
	})
}

// aJobIsLost is longer than a worker may be silent before another one has its job.
const aJobIsLost = 40 * time.Second

// eachFrozen freezes each of two workers in turn until its jobs are lost, and does something meanwhile
// by an API that lives.
func (p *production) eachFrozen(meanwhile func(victim string)) {
	urls := []string{p.api.URL, p.api.URL}
	if p.worker == p.gateway {
		urls[0] = p.gateways[0]
	}
	for i, victim := range []string{p.worker, other(p.worker)} {
		p.api.URL = urls[i]
		p.freeze(victim)
		meanwhile(victim)
		p.pause(aJobIsLost)
		p.thaw(victim)
	}
}

// moves orders a bulk job that moves all timers by an hour, slowly, one after another.
func (p *production) moves(id string) {
	_, _, err := p.api.Client().Bulk.Start(p.t.Context(), client.BulkOrder{
		ID: id, Operation: job.Move, Shift: wire.Duration(time.Hour), Filter: timer.Filter{BusinessType: p.kind}, PerSecond: 4,
	})
	require.NoError(p.t, err)
	p.awaitJob(id, func(j client.BulkJob) bool { return j.Done > 4 })
}

func (p *production) awaitJob(id string, as func(client.BulkJob) bool) (j client.BulkJob) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		var err error
		j, err = p.api.Client().Bulk.Get(p.t.Context(), id)
		return err == nil && as(j)
	}, process.Patience, process.Interval, "the job goes on")
	return j
}

// bookedAhead books timers that ring long after the test, and returns their due times.
func (p *production) bookedAhead(timers int) map[string]wire.Instant {
	due, listed := sample.BookMany(p.t, p.api.Client(), p.kind, timers), map[string]string{}
	for id := range due {
		listed[id] = "scheduled"
	}
	p.api.AwaitList(p.kind, listed)
	return due
}

// A bulk job goes on where its worker stands still, and changes each timer once. The worker that goes on
// changes no further timer, nor the results.
func TestBulkJobFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.beside(of.worker)
		due := p.bookedAhead(400)
		p.moves("frozen")
		p.eachFrozen(func(string) {})
		ended := p.awaitJob("frozen", client.BulkJob.Ended)
		require.Equal(t, []any{job.Done, len(due), 0, 0}, []any{ended.Status, ended.Done, ended.Skipped, ended.Failed})
		results := map[string]job.Result{}
		for line, err := range p.api.Client().Bulk.Results(t.Context(), "frozen") {
			require.NoError(t, err)
			require.NotContains(t, results, line.BusinessID)
			require.Contains(t, []job.Result{job.ResultDone, job.ResultPending}, line.Result)
			results[line.BusinessID] = line.Result
		}
		require.Len(t, results, len(due))
		for id, before := range due {
			shown := p.api.Get(p.kind + "/" + id)
			require.Equal(t, before.Add(time.Hour).Time(), shown.DueAt.UTC(), "%s is moved once", id)
			require.Equal(t, 2, shown.Revision)
		}
	})
}

// A bulk job that is stopped while its worker stands still changes nothing more when the worker goes on,
// but what that had begun.
func TestBulkJobStoppedWhileFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.beside(of.worker)
		due := p.bookedAhead(400)
		done := 0
		for _, id := range []string{"first", "second"} { // one of the two workers has each
			p.moves(id)
			p.eachFrozen(func(string) {
				_, err := p.api.Client().Bulk.Stop(t.Context(), id)
				require.NoError(t, err)
			})
			ended := p.awaitJob(id, client.BulkJob.Ended)
			require.Equal(t, job.Stopped, ended.Status)
			require.Less(t, ended.Done, len(due))
			done += ended.Done
		}
		changes := 0
		for id := range due {
			changes += p.api.Get(p.kind+"/"+id).Revision - 1
		}
		require.GreaterOrEqual(t, changes, done)
		require.LessOrEqual(t, changes, done+2, "each job has one timer in its hands")
	})
}

// A dispatch is changed, paused and resumed while one of two workers stands still. Each item comes.
func TestDispatchChangedWhileFrozen(t *testing.T) {
	inEachForm(t, func(t *testing.T, of form) {
		p := newProduction(t, of, process.Direct)
		p.beside(of.worker)
		d := p.dispatch(12000)
		d.upload(false)
		d.pause(2 * time.Second)
		p.eachFrozen(func(victim string) {
			d.crashes++ // items in flight may come again
			// A node that goes on closes the connections that it kept: a call on one of them is repeated.
			calls := client.New(client.Options{URL: p.api.URL, Key: p.api.Key}).Dispatches
			_, _, err := calls.SetRate(t.Context(), d.key, dispatchRate/2, nil)
			require.NoError(t, err)
			_, _, err = calls.Pause(t.Context(), d.key, nil)
			require.NoError(t, err)
			d.pause(20 * time.Second) // the task of the dispatch may be the frozen worker's
			held := d.witness.Count()
			d.pause(5 * time.Second)
			require.Equal(t, held, d.witness.Count(), "nothing comes any more: %s", victim)
			_, _, err = calls.Resume(t.Context(), d.key, nil)
			require.NoError(t, err)
			_, _, err = calls.SetRate(t.Context(), d.key, dispatchRate, nil)
			require.NoError(t, err)
		})
		d.ends("a dispatch is paused, resumed and changed while each of two workers is frozen for a minute")
	})
}

func (p *production) freeze(service string) {
	if service == "postgres" {
		p.deployment.Postgres.Freeze()
		return
	}
	p.living[service].Freeze()
}

func (p *production) thaw(service string) {
	if service == "postgres" {
		p.deployment.Postgres.Thaw()
		return
	}
	p.living[service].Thaw()
}
