package kernel

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// crowded has so many open timers.
func crowded(t *testing.T, timers int) (*Kernel, *enginetest.Temporal) {
	t.Helper()
	on := &enginetest.Temporal{}
	for n := range timers {
		_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "order/" + strconv.Itoa(n)}, workflows.TypeTimer, n)
		require.NoError(t, err)
	}
	k := New(on, "default", "")
	t.Cleanup(k.EndWaits)
	return k, on
}

// Every call is bounded in time, and its error is one of ours.
func TestEveryCallIsTranslated(t *testing.T) {
	t.Parallel()
	every := query.Query{}
	for name, c := range map[string]struct {
		call  string
		act   func(ctx context.Context, k *Kernel) error
		plain bool // its error is Temporal's own
	}{
		"describe": {"DescribeWorkflowExecution", func(ctx context.Context, k *Kernel) error { _, err := k.Describe(ctx, "order/0", ""); return err }, false},
		"list":     {"ListWorkflow", func(ctx context.Context, k *Kernel) error { _, err := k.List(ctx, every, 1, nil); return err }, false},
		"count":    {"CountWorkflow", func(ctx context.Context, k *Kernel) error { _, err := k.Count(ctx, every); return err }, false},
		"pages": {"ListWorkflow", func(ctx context.Context, k *Kernel) error {
			return k.EachPage(ctx, every, func([]*workflowpb.WorkflowExecutionInfo) error { return nil })
		}, false},
		"events": {"GetWorkflowHistory", func(ctx context.Context, k *Kernel) error {
			return k.EachEvent(ctx, "order/0", "", func(*historypb.HistoryEvent) {})
		}, false},
		"store":  {"ExecuteWorkflow", func(ctx context.Context, k *Kernel) error { return k.StoreBlob(ctx, Blob{ID: "b", Life: time.Hour}, 1) }, false},
		"read":   {"GetWorkflowExecutionHistory", func(ctx context.Context, k *Kernel) error { _, err := k.ReadBlob(ctx, "order/0"); return err }, false},
		"end":    {"TerminateWorkflow", func(ctx context.Context, k *Kernel) error { return k.EndBlob(ctx, "order/0", "") }, false},
		"update": {"UpdateWorkflow", func(ctx context.Context, k *Kernel) error { return k.Update(ctx, "order/0", workflows.UpdateProbe) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for answer, code := range map[error]wire.Code{
				serviceerror.NewNotFound("none"):             wire.NotFound,
				serviceerror.NewUnavailable("busy"):          wire.Unavailable,
				serviceerror.NewResourceExhausted(0, "slow"): wire.Unavailable,
				serviceerror.NewDeadlineExceeded("late"):     wire.Unavailable,
				serviceerror.NewPermissionDenied("no", ""):   wire.Unavailable,
				serviceerror.NewInvalidArgument("what"):      wire.Unavailable,
				serviceerror.NewInternal("broken"):           wire.Unavailable,
				errors.New("a connection broke"):             wire.Unavailable,
			} {
				k, on := crowded(t, 1)
				on.Refuse(c.call, "", answer)
				err := c.act(t.Context(), k)
				if c.plain {
					require.Equal(t, answer, err) //nolint:testifylint // it is the value itself
					continue
				}
				require.Equal(t, code, wire.CodeOf(err), answer)
				if name != "read" {
					require.ErrorIs(t, err, answer, "the cause is told to who looks for it")
				}
			}
			k, _ := crowded(t, 1)
			require.NoError(t, c.act(t.Context(), k))
		})
	}
}

func TestACallIsBounded(t *testing.T) {
	t.Parallel()
	ctx, cancel := Bounded(t.Context())
	defer cancel()
	until, limited := ctx.Deadline()
	require.True(t, limited)
	require.LessOrEqual(t, time.Until(until), tuning.CallTimeout)
}

func TestWhenACallHasExpired(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"its context is over": {over, errors.New("any"), true},
		"Go's error":          {t.Context(), context.DeadlineExceeded, true},
		"gRPC's error":        {t.Context(), status.Error(codes.DeadlineExceeded, ""), true},
		"Temporal's error":    {t.Context(), serviceerror.NewDeadlineExceeded("late"), true},
		"something else":      {t.Context(), serviceerror.NewUnavailable("busy"), false},
		"nothing":             {t.Context(), nil, false},
	} {
		require.Equal(t, c.want, Expired(c.ctx, c.err), name)
	}
}

// A list is read page by page to its end, or to the first error.
func TestAllPagesAreRead(t *testing.T) {
	t.Parallel()
	k, on := crowded(t, 2*tuning.MaxListed+1)
	seen, pages := 0, 0
	require.NoError(t, k.EachPage(t.Context(), query.Query{}, func(page []*workflowpb.WorkflowExecutionInfo) error {
		seen, pages = seen+len(page), pages+1
		return nil
	}))
	require.Equal(t, []int{2*tuning.MaxListed + 1, 3}, []int{seen, pages})
	n, err := k.Count(t.Context(), query.Query{})
	require.NoError(t, err)
	require.Equal(t, seen, n)

	enough := errors.New("enough")
	before := len(on.Calls("ListWorkflow"))
	require.ErrorIs(t, k.EachPage(t.Context(), query.Query{}, func([]*workflowpb.WorkflowExecutionInfo) error { return enough }), enough)
	require.Len(t, on.Calls("ListWorkflow"), before+1)
}

// What is kept is read as it was stored, also after its end, and replaced by what is stored after it.
func TestABlobIsKept(t *testing.T) {
	t.Parallel()
	k, on := crowded(t, 0)
	read := func() (n int) {
		stored, err := k.ReadBlob(t.Context(), "b")
		require.NoError(t, err)
		require.NoError(t, Payloads.FromPayload(stored, &n))
		return n
	}
	for n := 1; n <= 2; n++ {
		require.NoError(t, k.StoreBlob(t.Context(), Blob{ID: "b", WorkflowType: workflows.TypeDispatchPage, Life: time.Hour}, n))
		require.Equal(t, n, read())
	}
	require.NoError(t, k.EndBlob(t.Context(), "b", "over"))
	require.Equal(t, 2, read())
	require.Equal(t, wire.NotFound, wire.CodeOf(k.EndBlob(t.Context(), "b", "over")))
	require.NoError(t, k.StoreBlob(t.Context(), Blob{ID: "b", Life: time.Hour}, 3))
	require.Equal(t, 3, read())
	require.Equal(t, 3, on.RunsOf("b"))

	_, err := k.ReadBlob(t.Context(), "nothing")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.ErrorContains(t, err, "no such page")
	_, err = on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "empty"}, workflows.TypeCheck)
	require.NoError(t, err)
	_, err = k.ReadBlob(t.Context(), "empty")
	require.Equal(t, wire.NotFound, wire.CodeOf(err), "it has no input")
}

// What watches over an attempt is none.
func TestWhatWatchesIsLeftOut(t *testing.T) {
	t.Parallel()
	k, on := crowded(t, 1)
	watch := &workflowpb.PendingActivityInfo{ActivityType: &commonpb.ActivityType{Name: workflows.ActivityWatchStream}}
	enginetest.Worker{On: on}.Pend("order/0", &workflowpb.PendingActivityInfo{ActivityId: "7"}, watch)
	described, err := k.Describe(t.Context(), "order/0", "")
	require.NoError(t, err)
	require.Len(t, described.GetPendingActivities(), 1)
	require.Equal(t, "7", described.GetPendingActivities()[0].GetActivityId())
	described, err = k.DescribeAll(t.Context(), "order/0", "")
	require.NoError(t, err)
	require.Len(t, described.GetPendingActivities(), 2)
}

// A pending activity tells when it is tried next, since when nobody takes it, and what it reported.
func TestAPendingActivity(t *testing.T) {
	t.Parallel()
	const waits, runs = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, enumspb.PENDING_ACTIVITY_STATE_STARTED
	now := time.Now()
	at := func(ago time.Duration) *timestamppb.Timestamp { return timestamppb.New(now.Add(-ago)) }
	report := enginetest.Failure(enginetest.Encoded(t, delivery.Report{Result: delivery.ResultRetry, Attempt: 2, Waits: delivery.WaitsForPause}))
	for name, c := range map[string]struct {
		pending   *workflowpb.PendingActivityInfo
		standby   bool
		notBefore time.Duration // ago
		cause     delivery.Waiting
		unclaimed bool
	}{
		"just scheduled":  {&workflowpb.PendingActivityInfo{State: waits, ScheduledTime: at(0)}, true, 0, "", false},
		"taken by nobody": {&workflowpb.PendingActivityInfo{State: waits, ScheduledTime: at(time.Hour)}, true, time.Hour, "", true},
		"just in time":    {&workflowpb.PendingActivityInfo{State: waits, ScheduledTime: at(tuning.TakenWithin)}, true, tuning.TakenWithin, "", false},
		"in a backoff": {&workflowpb.PendingActivityInfo{State: waits, ScheduledTime: at(time.Hour), NextAttemptScheduleTime: at(-time.Hour), LastFailure: report},
			true, -time.Hour, delivery.WaitsForPause, true},
		"begun": {&workflowpb.PendingActivityInfo{State: runs, ScheduledTime: at(time.Hour)}, false, 0, "", false},
	} {
		standby, ok := StandbyOf(c.pending)
		require.Equal(t, c.standby, ok, name)
		require.Equal(t, c.cause, standby.Cause, name)
		if ok {
			require.Equal(t, wire.At(now.Add(-c.notBefore)), standby.NotBefore, name)
		}
		require.Equal(t, c.unclaimed, Unclaimed(c.pending, now) != 0, name)
	}
}

// A worker has the task of a run that is open and has started it.
func TestARunWithAWorker(t *testing.T) {
	t.Parallel()
	k, on := crowded(t, 1)
	with := func() bool {
		described, err := k.Describe(t.Context(), "order/0", "")
		require.NoError(t, err)
		return WithWorker(described)
	}
	require.False(t, with(), "its task waits")
	enginetest.Worker{On: on}.Hold("order/0", "worker")
	require.True(t, with())
	require.NoError(t, on.TerminateWorkflow(t.Context(), "order/0", "", ""))
	require.False(t, with())
}

// A change that waits for a run is marked by the run's own id, and not by that of the run before.
func TestAMarkedChange(t *testing.T) {
	t.Parallel()
	marked := func(id string) *workflowservice.DescribeWorkflowExecutionResponse {
		return &workflowservice.DescribeWorkflowExecutionResponse{
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{RunId: "run"}},
			WorkflowExtendedInfo:  &workflowpb.WorkflowExecutionExtendedInfo{RequestIdInfos: map[string]*workflowpb.RequestIdInfo{id: {}}},
		}
	}
	require.True(t, ChangeMarked(marked(workflows.ChangeMark("run")+"change")))
	require.False(t, ChangeMarked(marked(workflows.ChangeMark("before")+"change")))
	require.False(t, ChangeMarked(marked("b81c7d1e-0000-4000-8000-000000000000")), "the id of its start")
}

// A change that is answered as accepted has waited for longer than an attempt trusts what it knows.
func TestAnAcceptedChangeIsSeenByTheNextAttempt(t *testing.T) {
	t.Parallel()
	require.Less(t, tuning.ConfirmedFor, DefaultWait)
}

// A token that Temporal cannot read is the caller's mistake. Without a token it is not.
func TestATokenThatTemporalDidNotMake(t *testing.T) {
	t.Parallel()
	k, on := crowded(t, 1)
	on.Refuse("ListWorkflow", "", serviceerror.NewInvalidArgument("invalid NextPageToken"))
	_, err := k.List(t.Context(), query.WorkflowType.Is(workflows.TypeTimer), 10, []byte("forged"))
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	_, err = k.List(t.Context(), query.WorkflowType.Is(workflows.TypeTimer), 10, nil)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}
