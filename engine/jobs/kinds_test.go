package jobs

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// paint is an order of another kind: its jobs have ids that are made up here.
type paint struct {
	Colour string `json:"colour"`
}

func (p paint) Check(time.Time) (errs wire.FieldErrors) {
	if p.Colour == "" {
		errs.Add("/colour", wire.CodeRequired, "is required")
	}
	return errs
}

var painting = Kind[paint]{
	JobKind: workflows.JobKind{Workflow: "Paint", Memo: "paint", Prefix: "paint:"}, Noun: "painting",
	Summary: func(order paint) string { return "paints it " + order.Colour },
}

func paintings(t *testing.T) (*Jobs[paint, job.BulkProgress], *enginetest.Temporal) {
	t.Helper()
	on := &enginetest.Temporal{}
	k := kernel.New(on, "default", "http://ui.test")
	t.Cleanup(k.EndWaits)
	return New[paint, job.BulkProgress](k, painting), on
}

// A kind says what its orders are; all else is that of every job.
func TestAnotherKindOfJob(t *testing.T) {
	t.Parallel()
	jobs, on := paintings(t)
	_, err := jobs.Start(t.Context(), paint{})
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	started, err := jobs.Start(t.Context(), paint{Colour: "red"})
	require.NoError(t, err)
	require.NoError(t, uuid.Validate(started.ID))
	require.Contains(t, started.Links.WebUI, "http://ui.test/")
	shown, err := jobs.Get(t.Context(), started.ID)
	require.NoError(t, err)
	require.Equal(t, paint{Colour: "red"}, shown.Order)
	again, err := jobs.Start(t.Context(), paint{Colour: "red"})
	require.NoError(t, err)
	require.NotEqual(t, started.ID, again.ID, "each order is a job")

	for _, id := range []string{"", "1", "PAINT", started.ID + "0", uuid.NewString()} {
		_, err := jobs.Get(t.Context(), id)
		require.Equal(t, wire.NotFound, wire.CodeOf(err), id)
		require.ErrorContains(t, err, "no such painting")
	}
	other := uuid.NewString()
	_, err = on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: painting.WorkflowID(other)}, workflows.TypeTimer)
	require.NoError(t, err)
	_, err = jobs.Get(t.Context(), other)
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "another workflow has its id")
}

// A job that runs tells what it waits for.
func TestWhatAJobWaitsFor(t *testing.T) {
	t.Parallel()
	long := timestamppb.New(time.Now().Add(-2 * tuning.TakenWithin))
	for name, c := range map[string]struct {
		state    enumspb.PendingActivityState
		progress job.BulkProgress
		want     delivery.Waiting
	}{
		"nothing":  {enumspb.PENDING_ACTIVITY_STATE_STARTED, job.BulkProgress{Tally: job.Tally{Done: 3}}, ""},
		"a worker": {enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, job.BulkProgress{}, delivery.WaitsForWorker},
		"its turn": {enumspb.PENDING_ACTIVITY_STATE_STARTED, job.BulkProgress{Position: job.Position{Waits: wire.At(time.Now())}}, delivery.WaitsForTurn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs, on := paintings(t)
			started, err := jobs.Start(t.Context(), paint{Colour: "red"})
			require.NoError(t, err)
			enginetest.Worker{On: on}.Pend(painting.WorkflowID(started.ID), &workflowpb.PendingActivityInfo{
				State: c.state, ScheduledTime: long, HeartbeatDetails: enginetest.Encoded(t, c.progress),
			})
			shown, err := jobs.Get(t.Context(), started.ID)
			require.NoError(t, err)
			require.Equal(t, c.want, shown.WaitsFor)
			require.Equal(t, c.progress.Done, shown.Counts.Done)
		})
	}
}

// A list passes over what was forgotten since, and fails with what cannot be asked.
func TestListsOfJobs(t *testing.T) {
	t.Parallel()
	jobs, on := paintings(t)
	var ids []string
	for range 3 {
		started, err := jobs.Start(t.Context(), paint{Colour: "red"})
		require.NoError(t, err)
		ids = append(ids, started.ID)
	}
	enginetest.Worker{On: on}.Close(painting.WorkflowID(ids[0]), job.BulkProgress{})
	first, next, err := jobs.List(t.Context(), Request{Size: 2})
	require.NoError(t, err)
	require.Len(t, first, 2)
	require.Equal(t, []job.Status{job.Running, job.Running}, []job.Status{first[0].Status, first[1].Status}, "those that run come first")
	rest, _, err := jobs.List(t.Context(), Request{Size: 2, Token: next})
	require.NoError(t, err)
	require.Len(t, rest, 1)
	require.Equal(t, job.Done, rest[0].Status)

	on.Refuse("DescribeWorkflowExecution", painting.WorkflowID(ids[1]), serviceerror.NewNotFound("forgotten"))
	page, _, err := jobs.List(t.Context(), Request{Size: 10})
	require.NoError(t, err)
	require.Len(t, page, 2)
	for _, call := range []string{"ListWorkflow", "DescribeWorkflowExecution"} {
		on.Refuse(call, "", errors.New("down"))
		_, _, err = jobs.List(t.Context(), Request{Size: 10})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
	}
}
