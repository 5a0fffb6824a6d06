package reconcile

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// crowdInBackoff is a Temporal with many retries, the newest first, as its
// visibility lists them.
type crowdInBackoff struct {
	*enginetest.Temporal
	listed []*workflowpb.WorkflowExecutionInfo
	// next is when each is tried next.
	next time.Time
	// lost is one whose retry is long past, broken one whose memo cannot be read,
	// and silent those that are not described at all.
	lost, broken string
	silent       map[string]error
	// queue is where the attempts are to be made.
	queue string

	lists, checks int
	woken         []string
}

func (c *crowdInBackoff) info(i int) *workflowpb.WorkflowExecutionInfo {
	memo, _ := kernel.Payloads.ToPayload(timer.Memo{Revision: 1, DueAt: wire.At(time.Now()), CreatedAt: wire.At(time.Now())})
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "order/" + strconv.Itoa(i), RunId: uuid.NewString()},
		Type:      &commonpb.WorkflowType{Name: workflows.TypeTimer}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		ExecutionTime: timestamppb.New(time.Now().Add(-time.Hour)),
		Memo:          &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoTimer: memo}},
	}
}

func (c *crowdInBackoff) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	c.lists++
	from, _ := strconv.Atoi(string(r.GetNextPageToken()))
	to := min(from+int(r.GetPageSize()), len(c.listed))
	response := &workflowservice.ListWorkflowExecutionsResponse{Executions: c.listed[from:to]}
	if to < len(c.listed) {
		response.NextPageToken = []byte(strconv.Itoa(to))
	}
	return response, nil
}

func (c *crowdInBackoff) CountWorkflow(context.Context, *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	return &workflowservice.CountWorkflowExecutionsResponse{Count: int64(len(c.listed))}, nil
}

func (c *crowdInBackoff) DescribeWorkflowExecution(ctx context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	key, ok := wire.ParseKey(id)
	if !ok {
		return c.Temporal.DescribeWorkflowExecution(ctx, id, "")
	}
	c.checks++
	if err := c.silent[id]; err != nil {
		return nil, err
	}
	i, _ := strconv.Atoi(key.BusinessID)
	info, next := c.listed[i], c.next
	if id == c.lost || id == c.broken {
		next = time.Now().Add(-time.Hour)
	}
	if id == c.broken {
		info.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoTimer: {Data: []byte("?")}}}
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: info,
		PendingActivities: []*workflowpb.PendingActivityInfo{{
			State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, NextAttemptScheduleTime: timestamppb.New(next),
			ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: c.queue}},
		}},
	}, nil
}

//nolint:revive // the client's own arguments
func (c *crowdInBackoff) SignalWithStartWorkflow(ctx context.Context, id, name string, value any, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	c.woken = append(c.woken, id)
	return c.Temporal.SignalWithStartWorkflow(ctx, id, name, value, options, workflow, args...)
}

// inBackoff is a crowd whose last one is lost.
func inBackoff(n int) (*crowdInBackoff, *Reconciler) {
	c := &crowdInBackoff{Temporal: &enginetest.Temporal{}, next: time.Now().Add(time.Hour), silent: map[string]error{}, queue: workflows.DefaultDeliveryQueue}
	for i := range n {
		c.listed = append(c.listed, c.info(i))
	}
	c.lost = "order/" + strconv.Itoa(n-1)
	k := kernel.New(c, "default", "")
	policies := policies.New(k, policies.Config{})
	queues := queues.New(k, policies)
	reader := timers.NewReader(k, policies, waits.New(policies, emergencies.New(k, 0), queues, nil))
	booked := bookings.New(bookings.Config{Kernel: k, Reader: reader, Policies: policies})
	return c, New(k, reader, booked.Changer, queues)
}

// The bound that the documents state: 200 checks a second, and each run is checked once
// for each step of its ladder.
func TestALostRetryIsFoundBehindACrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const crowd = 4_000
		c, e := inBackoff(crowd)
		began := time.Now()
		found, err := e.Retrying(t.Context(), time.Minute)
		require.NoError(t, err)
		require.Empty(t, found.Passed)
		require.Equal(t, []string{c.lost}, c.woken)
		require.Equal(t, map[string]int{"order": 1}, found.Woken)
		require.Equal(t, crowd, c.checks)
		require.LessOrEqual(t, time.Since(began), crowd*time.Second/tuning.ChecksPerSecond)

		c.lost, c.checks, c.lists = "", 0, 0
		_, err = e.Retrying(t.Context(), time.Minute)
		require.NoError(t, err)
		require.Equal(t, 1, c.checks, "the rest has nothing to do for an hour")
		require.Equal(t, crowd/tuning.MaxListed, c.lists)

		<-time.After(2 * time.Hour) // their attempts are past, and none was made
		_, err = e.Retrying(t.Context(), time.Minute)
		require.NoError(t, err)
		require.Len(t, c.woken, 1+crowd)
	})
}

// PostgreSQL counts none by an index, and reads all open timers to list none.
func TestWhereNothingIsOverdueNothingIsListed(t *testing.T) {
	t.Parallel()
	c, e := inBackoff(1)
	c.listed = nil
	found, err := e.Waiting(t.Context(), time.Minute)
	require.NoError(t, err)
	require.Empty(t, found.Woken)
	require.Zero(t, c.lists)
}

// One run that cannot be looked at keeps no other from being woken.
func TestWhatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, e := inBackoff(100)
		c.broken = "order/3"
		c.silent["order/5"] = errors.New("a shard that does not answer")
		c.silent["order/6"] = serviceerror.NewNotFound("deleted since")
		found, err := e.Retrying(t.Context(), time.Minute)
		require.NoError(t, err)
		require.Equal(t, []string{c.lost}, c.woken)
		require.Len(t, found.Passed, 2)
		require.Equal(t, wire.Internal, wire.CodeOf(found.Passed["order/3"]))
		require.Equal(t, wire.Unavailable, wire.CodeOf(found.Passed["order/5"]))
	})
}

// A Temporal that answers nothing is not asked for every run of a crowd.
func TestARoundEndsWhereNothingIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, e := inBackoff(100)
		for i := range c.listed {
			c.silent["order/"+strconv.Itoa(i)] = errors.New("down")
		}
		_, err := e.Retrying(t.Context(), time.Minute)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err))
		require.Equal(t, tuning.UnansweredChecks, c.checks)
	})
}

// An attempt is looked for on the queue on which it waits, whatever its type's policy says
// by now: behind a callback that is down that may be the one of a stream.
func TestWhatWaitsOnItsQueueIsNotLost(t *testing.T) {
	t.Parallel()
	web, stream := delivery.HTTP("https://h/"), delivery.Destination{Stream: true}
	second := &delivery.Fallback{Callback: delivery.Callback{Destination: stream}}
	called, connected := workflows.DeliveryQueue("order"), workflows.StreamQueue("order")
	for name, c := range map[string]struct {
		callback delivery.Destination
		fallback *delivery.Fallback
		queue    string
		backlog  string
		lost     bool
	}{
		"for a receiver of the second link":        {web, second, connected, connected, false},
		"nobody has it":                            {web, second, connected, called, true},
		"for a receiver, as an older policy said":  {web, nil, connected, connected, false},
		"for its turn at the callback":             {web, nil, called, called, false},
		"nobody has it that goes elsewhere":        {stream, nil, called, connected, true},
		"nobody has it from before the policy was": {web, nil, workflows.DefaultDeliveryQueue, called, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timers, e := inBackoff(1)
			timers.queue, timers.Backlogs = c.queue, map[string]int64{c.backlog: 1}
			timers.Policy(t, policy.Policy{
				BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: c.callback}, Fallback: c.fallback,
			})
			_, err := e.Retrying(t.Context(), time.Minute)
			require.NoError(t, err)
			require.Equal(t, c.lost, len(timers.woken) == 1)
		})
	}
}
