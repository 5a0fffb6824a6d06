package ledger

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// doubted is a timer whose end Temporal did not answer.
type doubted struct {
	*testing.T
	temporal *enginetest.Temporal
	worker   enginetest.Worker
	counter  *Counter
	runID    string
	ends     []*commandpb.Command
}

const doubtedID = "order/1"

func newDoubted(t *testing.T) *doubted {
	on := &enginetest.Temporal{}
	d := &doubted{T: t, temporal: on, worker: enginetest.Worker{On: on}, counter: counting()}
	d.ends = []*commandpb.Command{completed(t, ended(timer.Delivered, 3))}
	run, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: doubtedID}, workflows.TypeTimer, timer.Spec{}, nil)
	require.NoError(t, err)
	d.runID = run.GetRunID()
	d.counter.Unanswered(doubtedID, d.runID, d.ends)
	return d
}

// endsBy has Temporal record the end of the run by the task of a worker.
func (d *doubted) endsBy(worker string, result any) {
	d.worker.Record(doubtedID, enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
			WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{Identity: worker},
		},
	})
	d.worker.Record(doubtedID, enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, &historypb.HistoryEvent{})
	d.worker.Close(doubtedID, result)
}

func (d *doubted) settles() {
	d.Helper()
	require.NoError(d, d.counter.settleDoubts(d.Context(), d.temporal))
}

func (d *doubted) counted() slo.Counts { return *d.counter.countsFor("order") }

// An end without an answer counts once, if Temporal has recorded it from this process.
func TestAnEndWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	one := slo.Counts{Rung: 1, OnTime: 1, JudgedBy: slo.Promise(time.Second), Delivered: 1, Attempts: 2, WorstMS: 3, Lateness: slo.Histogram{3: 1}}
	gaveUp := slo.Counts{Rung: 1, OnTime: 1, JudgedBy: slo.Promise(time.Second), Failed: 1, Attempts: 2, WorstMS: 3, Lateness: slo.Histogram{3: 1}}
	failure := temporal.NewApplicationErrorWithOptions("HTTP 500", workflows.ErrorFailed, temporal.ApplicationErrorOptions{
		Details: []any{ended(timer.Failed, 3)},
	})
	for name, c := range map[string]struct {
		happens func(*doubted)
		want    slo.Counts
	}{
		"recorded":                    {func(d *doubted) { d.endsBy("process-1", ended(timer.Delivered, 3)) }, one},
		"recorded as failed":          {func(d *doubted) { d.endsBy("process-1", failure) }, gaveUp},
		"recorded from another one":   {func(d *doubted) { d.endsBy("process-2", ended(timer.Delivered, 3)) }, slo.Counts{}},
		"not recorded":                {func(*doubted) {}, slo.Counts{}},
		"cancelled":                   {func(d *doubted) { d.worker.Cancel(doubtedID) }, slo.Counts{}},
		"answered after all":          {func(d *doubted) { d.answered() }, one},
		"answered late":               {func(d *doubted) { d.endsBy("process-1", ended(timer.Delivered, 3)); d.settles(); d.answered() }, one},
		"a task that ended nothing":   {func(d *doubted) { d.ends = nil; d.answered(); d.endsBy("process-1", ended(timer.Delivered, 3)) }, slo.Counts{}},
		"recorded after the question": {func(d *doubted) { d.settles(); d.endsBy("process-1", ended(timer.Delivered, 3)) }, one},
		"Temporal did not answer": {func(d *doubted) {
			d.endsBy("process-1", ended(timer.Delivered, 3))
			d.temporal.Err = errors.New("lost")
			require.ErrorContains(d, d.counter.Flush(d.Context(), d.temporal), "lost")
			d.temporal.Err = nil
		}, one},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDoubted(t)
				c.happens(d)
				for range 3 {
					d.settles()
				}
				require.Equal(t, c.want, d.counted())
				<-time.After(tuning.LedgerDoubts + time.Second)
				d.settles()
				require.Empty(t, d.counter.doubts)
				require.Equal(t, c.want, d.counted())
			})
		})
	}
}

// slow is a Temporal that answers slowly, and does not for unreadableRun.
type slow struct{ *enginetest.Temporal }

func (s slow) WorkflowService() workflowservice.WorkflowServiceClient {
	return slowly{s.Temporal.WorkflowService()}
}

type slowly struct {
	workflowservice.WorkflowServiceClient
}

const unreadableRun = "unreadable"

func (s slowly) GetWorkflowExecutionHistoryReverse(
	ctx context.Context, r *workflowservice.GetWorkflowExecutionHistoryReverseRequest, options ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
	if r.GetExecution().GetRunId() == unreadableRun {
		return nil, serviceerror.NewInternal(unreadableRun)
	}
	select {
	case <-time.After(time.Second):
		return s.WorkflowServiceClient.GetWorkflowExecutionHistoryReverse(ctx, r, options...)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A run that cannot be read keeps no other in doubt.
func TestAnEndBesideOneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoubted(t)
		d.endsBy("process-1", ended(timer.Delivered, 3))
		d.counter.Unanswered("order/2", unreadableRun, d.ends)
		require.ErrorContains(t, d.counter.settleDoubts(t.Context(), slow{d.temporal}), unreadableRun)
		require.EqualValues(t, 1, d.counted().Delivered)
		require.Contains(t, d.counter.doubts, unreadableRun)
	})
}

// answered gives the answer to the task after all.
func (d *doubted) answered() { d.counter.Completed(doubtedID, d.runID, d.ends) }

// What ends no timer is in no doubt.
func TestOnlyEndsAreInDoubt(t *testing.T) {
	t.Parallel()
	counter := counting()
	counter.Unanswered(workflows.PolicyID("order"), "run-1", []*commandpb.Command{completed(t, ended(timer.Delivered, 3))})
	counter.Unanswered(doubtedID, "run-2", []*commandpb.Command{{}})
	require.Empty(t, counter.doubts)
}

// An occurrence is in the input of the next run.
func TestAnOccurrenceWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	next := continued(t, &timer.Series{Began: true, Last: &timer.Past{DueAt: 7, Outcome: ended(timer.Delivered, 3)}})
	event := &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
		WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{
			Input: next.GetContinueAsNewWorkflowExecutionCommandAttributes().GetInput(),
		},
	}}
	outcome, ended := outcomeOf(event)
	require.True(t, ended)
	require.Zero(t, outcome.Earlier)
	require.EqualValues(t, 3, *outcome.LatenessMS)
	_, ended = outcomeOf(&historypb.HistoryEvent{})
	require.False(t, ended)
	outcome, ended = outcomeOf(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCanceledEventAttributes{
		WorkflowExecutionCanceledEventAttributes: &historypb.WorkflowExecutionCanceledEventAttributes{
			Details: encoded(t, timer.Outcome{Status: timer.Cancelled, Attempts: 3}),
		},
	}})
	require.True(t, ended)
	require.Equal(t, timer.Outcome{Status: timer.Cancelled, Attempts: 3}, outcome)
}
