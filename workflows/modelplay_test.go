package workflows_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/model"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// The timers of a play. Only the latest time comes ten hours after the due time, and only
// the next occurrence comes a month after it.
const (
	playDelay   = time.Hour
	playExpiry  = 10 * time.Hour
	playWait    = time.Hour
	playMonth   = 720 * time.Hour
	playLead    = 50 * time.Second
	playWithin  = 10 * time.Minute
	mostRuns    = 20
	playMaxWait = playDelay + 1500*time.Millisecond
)

// play is a sequence of the model's events that is played into the real workflow, run after
// run, in workflow time. It records what an observer sees.
type play struct {
	t      *testing.T
	rules  model.Rules
	script []model.Event
	// state is the model's present state.
	state model.State
	spec  timer.Spec
	// now is when the last run ended, and next when its successor begins by itself.
	now, next time.Time
	// again are the changes and the cancel that a dead worker has left unapplied; died
	// reports whether one had the run.
	again []model.Event
	died  bool
	// changes counts the changes that were sent.
	changes int
	// continued reports whether the last run has continued as another one.
	continued bool

	seen, want []model.Effect
	faults     []string
	// wrong makes the receiver's answers differ from the script's.
	wrong func(model.Event) model.Event
}

// newPlay books a timer.
func newPlay(t *testing.T, kind model.Kind, script []model.Event) *play {
	t.Helper()
	booked := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	expires, most := wire.Duration(playExpiry), model.Occurrences
	terms := timer.Terms{Delay: ptr(wire.Duration(playDelay)), ExpiresAfter: &expires}
	switch kind {
	case model.Recurring:
		terms = every(playMonth, func(r *recurrence.Rule) { r.MaxOccurrences = &most })
		terms.ExpiresAfter = &expires
	case model.Debounced:
		terms.MaxWait = ptr(wire.Duration(playMaxWait))
	default:
	}
	spec, err := timer.Admit(wire.Key{BusinessType: "x", BusinessID: "1"}, terms, "b", booked)
	require.NoError(t, err)
	spec.Behaviour = workflows.BehaviourNow
	if kind == model.Preloaded {
		spec.Preload = policy.Preload{Lead: wire.Duration(playLead), Window: wire.Duration(time.Minute)}
	}
	return &play{
		t: t, rules: model.All(), script: script, state: model.Booked(kind), spec: spec,
		now: booked, next: booked.Add(workflows.StartDelay(spec.Memo, booked)),
		wrong: func(e model.Event) model.Event { return e },
	}
}

func (p *play) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// advance takes the next event of the script, and the model's state before it.
func (p *play) advance() (e model.Event, from model.State) {
	e, from = p.script[0], p.state
	p.script = p.script[1:]
	step, ok := p.rules.Next(from, e)
	if !ok {
		p.fault("the model has no %s in %+v", e, from)
	}
	p.state = step.To
	for _, effect := range step.Effects {
		if effect.Name != model.Refuse && effect.Name != model.Start { // clients see these
			p.want = append(p.want, effect)
		}
	}
	return e, from
}

// run plays the script, run after run.
func (p *play) run() {
	for runs := 0; (p.open() || len(p.script) > 0) && len(p.faults) == 0; runs++ {
		if runs > mostRuns {
			p.fault("goes on and on")
		}
		if p.state.Phase.Ended() && !p.open() {
			if e, _ := p.advance(); e == model.Redeliver {
				p.redeliver()
			}
			continue
		}
		if p.oneRun(); !p.died && !p.continued && !p.state.Phase.Ended() {
			p.fault("has ended, and the model is %s", p.state.Phase)
		}
		p.compare()
	}
	if fmt.Sprint(p.seen) != fmt.Sprint(p.want) {
		p.fault("effects\n%v\nand not\n%v", p.seen, p.want)
	}
}

// open reports whether a run follows, in any script.
func (p *play) open() bool { return p.died || p.spec.Ongoing != nil && p.continued }

// redeliver sets the input of a failed timer's new run, as package bookings does.
func (p *play) redeliver() {
	p.spec.LatestAt, p.spec.ExpiresAfter, p.spec.NeverExpires, p.spec.Ongoing = 0, 0, true, nil
	p.spec.Suspended = false
	p.spec.Round++
	if p.spec.Series != nil {
		p.spec.Series.Resumed = true
	}
	p.next = p.now
}

// begins is when the next run begins.
func (p *play) begins() time.Time {
	if p.open() || !p.state.Phase.Cold() {
		return p.now
	}
	latest := p.spec.Latest(0).Time()
	switch e := p.script[0]; {
	case e == model.Cancel || slices.Contains(model.Changes(), e):
		return p.now.Add(time.Second)
	case e == model.LatestPasses:
		return latest.Add(time.Second)
	case e != model.HandedOut && p.spec.RingsAt().Time().After(p.next):
		return p.spec.RingsAt().Time()
	default:
		return p.next
	}
}

// oneRun plays one run of the workflow.
func (p *play) oneRun() {
	env := newEnvironment()
	env.SetTestTimeout(20 * time.Second)
	began := p.begins()
	env.SetStartTime(began)
	if p.died {
		env.SetCurrentHistoryLength(9)
	}
	server := &playServer{play: p, env: env, again: p.again}
	p.again, p.died = nil, false
	env.SetWorkerOptions(worker.Options{
		Interceptors: []interceptor.WorkerInterceptor{server}, DeadlockDetectionTimeout: time.Minute, // on a busy machine
	})
	if err := env.SetMemoOnStart(map[string]any{workflows.MemoTimer: p.spec.Memo}); err != nil {
		p.fault("%v", err)
		return
	}
	env.ExecuteWorkflow(workflows.TypeTimer, p.spec, workflows.Encode(nil))
	if p.now = env.Now(); p.died {
		return
	}
	p.finish(env)
}

// finish records how a run ended.
func (p *play) finish(env *testsuite.TestWorkflowEnvironment) {
	err := env.GetWorkflowError()
	p.continued = false
	if again, ok := errors.AsType[*workflow.ContinueAsNewError](err); ok {
		var spec timer.Spec
		if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &spec); err != nil {
			p.fault("%v", err)
		}
		p.continued = true
		p.spec, p.next = spec, p.now.Add(again.BackoffStartInterval)
		p.seen = append(p.seen, model.Effect{Name: model.Rearm})
		return
	}
	end := model.Effect{Name: model.End, Status: timer.Cancelled}
	if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok && failed.Type() == workflows.ErrorFailed {
		end.Status = timer.Failed
	} else if err == nil {
		var outcome timer.Outcome
		if err := env.GetWorkflowResult(&outcome); err != nil {
			p.fault("%v", err)
		}
		end.Status = outcome.Status
	} else if !temporal.IsCanceledError(err) {
		p.fault("%v", err)
	}
	p.seen = append(p.seen, end)
}

// compare compares the input of the next run with the state of the model.
func (p *play) compare() {
	if s := p.state; !p.open() && s.Phase.Cold() {
		want := fmt.Sprint("round ", s.Round, ", unpreloaded ", s.Unpreloaded, ", resting ", s.Phase == model.Paused, ", number ", p.number(s.Series.Number))
		got := 0
		if p.spec.Series != nil {
			got = p.spec.Series.Number
		}
		have := fmt.Sprint("round ", p.spec.Round, ", unpreloaded ", p.spec.NotPreloaded, ", resting ", p.spec.Resting(), ", number ", p.number(got))
		if want != have {
			p.fault("the next run has %s and not %s", have, want)
		}
		over := s.Kind == model.Recurring && s.Series.Left == 0
		if s.Phase == model.Scheduled && !over && s.Overdue != !p.spec.RingsAt().Time().After(p.now) {
			p.fault("due at %s, and overdue %t at %s", p.spec.RingsAt(), s.Overdue, p.now)
		}
		if by := p.spec.Debounce.RingBy(); by != 0 && p.spec.DueAt > by {
			p.fault("due at %s, after %s", p.spec.DueAt, by)
		}
	}
}

// number is the present occurrence. A paused or ended one is named when it goes on.
func (p *play) number(n int) int {
	if p.state.Phase == model.Paused || p.state.Series.Left == 0 {
		return 0
	}
	return n
}

// report is the report of an attempt with that number and answer.
func (p *play) report(answer model.Event, number int, now time.Time) delivery.Report {
	report := delivery.Report{
		Attempt: number, EndedAt: wire.At(now), Latest: p.spec.Latest(0), PolicyVersion: 1, RetryIn: wire.Duration(playWait),
	}
	if answer == model.Busy {
		report.RetryIn *= 2
	}
	last := number >= model.Attempts
	switch answer {
	case model.OK, model.EndSeries:
		report.Result, report.Stop = delivery.ResultDelivered, answer == model.EndSeries
	case model.Accept:
		report.Result, report.Exhausted = delivery.ResultAccepted, last
		report.AckUntil = wire.At(now.Add(playWithin))
		if p.lapses() {
			report.AckUntil = report.Latest.Add(time.Hour)
		}
	default:
		report.Result, report.Failure = delivery.ResultRetry, &delivery.Failure{Status: 500, Message: "HTTP 500"}
		if last || answer == model.Gone {
			report.Result = delivery.ResultFailed
		}
	}
	return report
}

// lapses reports whether the script passes the latest time before the receiver's time.
func (p *play) lapses() bool {
	latest, over := slices.Index(p.script, model.LatestPasses), slices.Index(p.script, model.AckOver)
	return latest >= 0 && (over < 0 || latest < over)
}

// changeOf is a change as a client sends it.
func (p *play) changeOf(e model.Event, now time.Time) timer.Change {
	p.changes++
	change := timer.Change{ID: strconv.Itoa(p.changes), At: wire.At(now)}
	switch e {
	case model.Move:
		change.Terms.Delay = ptr(wire.Duration(playDelay))
	case model.Push:
		change.Replace = true
		change.Terms = timer.Terms{
			Delay: ptr(wire.Duration(playDelay)), MaxWait: ptr(wire.Duration(playMaxWait)), ExpiresAfter: ptr(wire.Duration(playExpiry)),
		}
	case model.Fire:
		change.Ring = true
	case model.Pause, model.Resume:
		change.Pause = &timer.Pause{Stop: e == model.Pause}
	default:
		change.Terms.Priority = ptr(1)
	}
	return change
}
