package bookings

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/health"
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

// The task of a change is freed where a silent process has it, and its timer is not with a worker anyway.
// Nothing is read where none is silent.
func TestWhatFreesAChange(t *testing.T) {
	t.Parallel()
	for name, change := range unappliedChanges {
		t.Run(name, func(t *testing.T) { testWhatFrees(t, change) })
	}
}

func testWhatFrees(t *testing.T, change func(*testing.T, fixture) Effect) {
	t.Helper()
	t.Parallel()
	silent := verdicts{"dead": health.Silent, "other": health.Alive}
	for name, c := range map[string]struct {
		ahead        time.Duration
		holder       string
		known        verdicts
		freed, reads bool
	}{
		"its worker is silent":        {time.Hour, "dead", silent, true, true},
		"its worker lives":            {time.Hour, "other", silent, false, true},
		"its worker stops":            {time.Hour, "dead", verdicts{"dead": health.Stopping}, false, false},
		"all live":                    {time.Hour, "dead", verdicts{"dead": health.Alive}, false, false},
		"it is not known who lives":   {time.Hour, "dead", nil, false, false},
		"no worker has it":            {time.Hour, "", silent, false, true},
		"it may be preloaded already": {time.Second, "dead", silent, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				d.processes = c.known
				d.booked(t, in(c.ahead, `1`))
				require.Equal(t, Pending, change(t, d))
				if c.holder != "" {
					d.takes(t, c.holder)
				}
				ctx, stop := context.WithTimeout(t.Context(), 2*tuning.UnappliedFor)
				defer stop()
				reads := len(d.temporal.Calls("GetWorkflowHistory"))
				d.FreeUnapplied(ctx)
				require.Equal(t, c.freed, len(d.temporal.Calls("RespondWorkflowTaskFailed")) == 1)
				require.Equal(t, c.reads, len(d.temporal.Calls("GetWorkflowHistory")) > reads)
				require.Empty(t, d.changes, "it is forgotten in time")
			})
		})
	}
}

// takes has a worker take the task that waits.
func (d fixture) takes(t *testing.T, worker string) {
	t.Helper()
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
