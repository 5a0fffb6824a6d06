package bookings

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// verdicts are the verdicts on processes. Nil are those that cannot be told.
type verdicts map[string]health.Life

func (v verdicts) List(context.Context) (listed health.Processes, err error) {
	if v == nil {
		return listed, errors.New("away")
	}
	for id, state := range v {
		listed.Processes = append(listed.Processes, health.Process{ID: id, State: state})
	}
	return listed, nil
}

// returning are verdicts that are not whole at the first looks: Temporal has lost the signs.
type returning struct {
	verdicts
	partial int
}

func (r *returning) List(ctx context.Context) (listed health.Processes, err error) {
	listed, err = r.verdicts.List(ctx)
	if r.partial--; r.partial >= 0 {
		listed.Note = "some may be missing"
	}
	return listed, err
}

// unappliedChanges are changes that no worker has applied yet. They return their effects.
var unappliedChanges = map[string]func(t *testing.T, d fixture) Effect{
	"moved": func(t *testing.T, d fixture) Effect {
		t.Helper()
		_, effect, err := d.Amend(t.Context(), in(2*time.Hour, `1`), 0)
		require.NoError(t, err)
		return effect
	},
	"cancelled": func(t *testing.T, d fixture) Effect {
		t.Helper()
		_, effect, err := d.Cancel(t.Context(), Target{Key: order1})
		require.NoError(t, err)
		return effect
	},
}

// The task of a change is freed where a dead process has it, and its timer is not with a worker anyway.
// Nothing is read where none seems to be dead.
func TestWhatFreesAChange(t *testing.T) {
	t.Parallel()
	for name, change := range unappliedChanges {
		t.Run(name, func(t *testing.T) { testWhatFrees(t, change) })
	}
}

func testWhatFrees(t *testing.T, change func(*testing.T, fixture) Effect) {
	t.Helper()
	t.Parallel()
	silent, others := verdicts{"dead": health.Silent, "other": health.Alive}, verdicts{"other": health.Alive}
	for name, c := range map[string]struct {
		ahead  time.Duration
		holder string
		known  Processes
		// young reports whether this process has started a moment ago.
		young, freed, reads bool
	}{
		"its worker is silent":                {time.Hour, "dead", silent, false, true, true},
		"its worker lives":                    {time.Hour, "other", silent, false, false, true},
		"its worker stops":                    {time.Hour, "dead", verdicts{"dead": health.Stopping}, false, false, false},
		"all live":                            {time.Hour, "dead", verdicts{"dead": health.Alive}, false, false, false},
		"it is not known who lives":           {time.Hour, "dead", verdicts(nil), false, false, false},
		"no worker has it":                    {time.Hour, "", silent, false, false, true},
		"it may be preloaded already":         {time.Second, "dead", silent, false, false, false},
		"its worker died before the start":    {time.Hour, "dead", others, true, true, true},
		"its worker lives, as at the start":   {time.Hour, "other", others, true, false, true},
		"its worker stops, as at the start":   {time.Hour, "dead", verdicts{"dead": health.Stopping}, true, false, true},
		"its worker is not named":             {time.Hour, anonymous, others, true, false, true},
		"no sign of its worker, long after":   {time.Hour, "dead", others, false, false, false},
		"the signs were lost since":           {time.Hour, "dead", &returning{others, 1}, false, true, true},
		"the signs are lost":                  {time.Hour, "dead", &returning{others, 1000}, true, false, false},
		"it is not known who lives, at start": {time.Hour, "dead", verdicts(nil), true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				d.processes = c.known
				if !c.young {
					d.unsure = time.Time{}
				}
				d.booked(t, in(c.ahead, `1`))
				require.Equal(t, Pending, change(t, d))
				d.takes(t, c.holder)
				reads := len(d.temporal.Calls("GetWorkflowHistory"))
				d.looks(t)
				require.Equal(t, c.freed, len(d.temporal.Calls("RespondWorkflowTaskFailed")) == 1)
				require.Equal(t, c.reads, len(d.temporal.Calls("GetWorkflowHistory")) > reads)
				require.Empty(t, d.changes, "it is forgotten in time")
			})
		})
	}
}

// looks lets the process look at what is unapplied, until it would have forgotten all of it.
func (d fixture) looks(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*tuning.UnappliedFor)
	defer stop()
	d.FreeUnapplied(ctx)
}

// The process that sent a change may have died with the worker that has its task. The task is freed once the
// timer is read, and no sooner than any other.
func TestAChangeOfAProcessThatDied(t *testing.T) {
	t.Parallel()
	for name, change := range unappliedChanges {
		t.Run(name, func(t *testing.T) { testChangeOfTheDead(t, change) })
	}
}

func testChangeOfTheDead(t *testing.T, change func(*testing.T, fixture) Effect) {
	t.Helper()
	t.Parallel()
	const long = tuning.UnappliedAfter + time.Second
	for name, c := range map[string]struct {
		ahead, held  time.Duration
		holder       string
		reads, freed bool
	}{
		"read":                   {time.Hour, long, "dead", true, true},
		"not read":               {time.Hour, long, "dead", false, false},
		"read at once":           {time.Hour, time.Second, "dead", true, false},
		"its worker lives":       {time.Hour, long, "other", true, false},
		"no worker has it":       {time.Hour, long, "", true, false},
		"preloaded in that time": {long, long, "dead", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				d.processes = verdicts{"dead": health.Silent, "other": health.Alive}
				d.booked(t, in(c.ahead, `1`))
				require.Equal(t, Pending, change(t, newFixtureOn(t, d.temporal, time.Hour)))
				d.takes(t, c.holder)
				<-time.After(c.held)
				if c.reads {
					_, err := d.reader.Get(t.Context(), order1)
					require.NoError(t, err)
				}
				began := time.Now()
				d.temporal.Before = func(call enginetest.Call) error {
					if call.Name == "RespondWorkflowTaskFailed" {
						require.LessOrEqual(t, time.Since(began), tuning.UnappliedLook)
					}
					return nil
				}
				d.looks(t)
				require.Equal(t, c.freed, len(d.temporal.Calls("RespondWorkflowTaskFailed")) == 1)
				require.Empty(t, d.changes, "it is forgotten in time")
			})
		})
	}
}

// anonymous is a worker that Temporal does not name.
const anonymous = "anonymous"

// takes has a worker take the task that waits; "" is none.
func (d fixture) takes(t *testing.T, worker string) {
	t.Helper()
	if worker == "" {
		return
	}
	worker = strings.TrimPrefix(worker, anonymous)
	task, err := d.temporal.WorkflowService().PollWorkflowTaskQueue(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{
		Identity: worker, TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.TaskQueue},
	})
	require.NoError(t, err)
	require.NotEmpty(t, task.GetTaskToken())
}

// A change whose effect was seen is no longer looked at, and of very many only the last are.
func TestWhichChangesAreUnapplied(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.worker.Work(t)
	d.booked(t, in(time.Hour, `1`))
	_, effect, err := d.Amend(t.Context(), in(2*time.Hour, `1`), time.Minute)
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.Empty(t, d.changes)
	run := func(n int) string { return time.Duration(n).String() }
	for n := range tuning.UnappliedKnown {
		d.add(sent{key: order1, runID: run(n)})
	}
	const old = 7
	d.changes[run(old)] = unapplied{d.changes[run(old)].sent, time.Now().Add(-time.Minute)}
	d.add(sent{key: order1, runID: run(0)})
	require.NotEmpty(t, d.changes[run(old)].runID, "a further change of a run takes no place")
	d.add(sent{key: order1, runID: run(tuning.UnappliedKnown)})
	require.Len(t, d.changes, tuning.UnappliedKnown)
	require.Empty(t, d.changes[run(old)].runID)
	require.NotEmpty(t, d.changes[run(tuning.UnappliedKnown)].runID)
}
