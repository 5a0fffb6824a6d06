package completion

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/internal/tuning"
)

// hands shows the limiter a worker's new task of a run. Only the first one has its timeout.
func hands(t *testing.T, l *Limiter, run string, timeout time.Duration) {
	t.Helper()
	handsOut(t, l, run, func(poll *workflowservice.PollWorkflowTaskQueueResponse) {
		if timeout > 0 {
			poll.History = &historypb.History{Events: []*historypb.HistoryEvent{began(timeout, 0)}}
		}
	})
}

// began is the first event of a run whose first task was to be handed out before now.
func began(timeout, late time.Duration) *historypb.HistoryEvent {
	const delay = time.Hour
	return &historypb.HistoryEvent{
		EventTime: timestamppb.New(time.Now().Add(-delay - late)),
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				WorkflowTaskTimeout: durationpb.New(timeout), FirstWorkflowTaskBackoff: durationpb.New(delay),
			},
		},
	}
}

// handsOut shows the limiter the answer to a worker's poll.
func handsOut(t *testing.T, l *Limiter, run string, answer func(*workflowservice.PollWorkflowTaskQueueResponse)) {
	t.Helper()
	invoke := func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		poll := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
		poll.TaskToken, poll.WorkflowExecution = []byte("token "+run), &commonpb.WorkflowExecution{WorkflowId: "of " + run, RunId: run}
		answer(poll)
		return nil
	}
	require.NoError(t, l.intercept(t.Context(), "", &workflowservice.PollWorkflowTaskQueueRequest{},
		&workflowservice.PollWorkflowTaskQueueResponse{}, nil, invoke))
}

// finishes ends a task, which takes a millisecond.
func finishes(t *testing.T, l *Limiter, run string) {
	t.Helper()
	require.NoError(t, ends(t, l, run, nil))
}

// ends ends a task, which takes a millisecond, and is recorded or refused.
func ends(t *testing.T, l *Limiter, run string, refusal error) error {
	t.Helper()
	invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		<-time.After(time.Millisecond)
		return refusal
	}
	return l.intercept(t.Context(), "", &workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("token " + run)},
		&workflowservice.RespondWorkflowTaskCompletedResponse{}, nil, invoke)
}

func TestWhatWasNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, told := newLimiter(t), &told{}
		l.Observe(told)
		for _, run := range []string{"recorded", "refused", "recorded later"} {
			hands(t, l, run, time.Minute)
		}
		refusal := status.Error(codes.InvalidArgument, "UnhandledCommand")
		finishes(t, l, "recorded")
		require.ErrorIs(t, ends(t, l, "refused", refusal), refusal)
		require.ErrorIs(t, ends(t, l, "recorded later", refusal), refusal)
		require.Len(t, l.Unrecorded(), 2)
		hands(t, l, "recorded later", 0)
		finishes(t, l, "recorded later")
		require.Equal(t, map[string]string{"refused": "of refused"}, l.Unrecorded())
		require.Equal(t, []string{"of recorded", "of recorded later"}, told.completed, "what was refused is not seen")
		require.Empty(t, told.unanswered)
	})
}

// told is what an observer was told, by workflow and by run.
type told struct{ completed, unanswered []string }

func (o *told) Completed(workflowID, _ string, _ []*commandpb.Command) {
	o.completed = append(o.completed, workflowID)
}

func (o *told) Unanswered(_, runID string, _ []*commandpb.Command) {
	o.unanswered = append(o.unanswered, runID)
}

// A completion whose answer was lost may have been recorded. The SDK tries it again, and the answer
// to that counts.
func TestWhatWasNotAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		answers               []error
		completed, unanswered int
	}{
		"lost":                      {[]error{status.Error(codes.Unavailable, "")}, 0, 1},
		"lost, and then recorded":   {[]error{status.Error(codes.Unavailable, ""), nil}, 1, 1},
		"lost, and recorded before": {[]error{status.Error(codes.Canceled, ""), status.Error(codes.NotFound, "")}, 0, 2},
		"lost, and then refused":    {[]error{status.Error(codes.DeadlineExceeded, ""), status.Error(codes.InvalidArgument, "")}, 0, 1},
		"overloaded":                {[]error{status.Error(codes.ResourceExhausted, "")}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, told := newLimiter(t), &told{}
				l.Observe(told)
				hands(t, l, "a", time.Minute)
				for _, answer := range c.answers {
					require.Equal(t, answer, ends(t, l, "a", answer))
				}
				require.Len(t, told.completed, c.completed)
				require.Len(t, told.unanswered, c.unanswered)
				require.Len(t, l.Unrecorded(), 1-c.completed)
				require.Zero(t, inUse(l))
			})
		})
	}
}

func newLimiter(t *testing.T) *Limiter {
	l, err := New()
	require.NoError(t, err)
	return l
}

// occupied returns a limiter without a free turn.
func occupied(t *testing.T) *Limiter {
	l := newLimiter(t)
	for range tuning.MinCompletions {
		_, ok := l.concurrency.Acquire(t.Context(), time.Time{})
		require.True(t, ok)
	}
	return l
}

func inUse(l *Limiter) int { return l.concurrency.InUse() }

func reserved(l *Limiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.reserved)
}

func TestTurnTakenAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		for n := range tuning.MinCompletions {
			hands(t, l, fmt.Sprint(n), time.Minute)
			l.Reserve(t.Context(), fmt.Sprint(n))
		}
		hands(t, l, "last", time.Minute)
		turn := make(chan struct{})
		go func() { l.Reserve(t.Context(), "last"); close(turn) }()
		synctest.Wait()
		select {
		case <-turn:
			require.Fail(t, "every turn is taken")
		default:
		}
		finishes(t, l, "0") // at once: its turn is reserved
		<-turn
		require.Equal(t, tuning.MinCompletions, inUse(l))
		finishes(t, l, "1")
		finishes(t, l, "last")
		finishes(t, l, "never heard of") // takes its own
		require.Zero(t, inUse(l))
		require.Zero(t, reserved(l))
	})
}

func TestUnusedTurnsLapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		for n := range tuning.MinCompletions {
			l.Reserve(t.Context(), fmt.Sprint(n))
		}
		l.Reserve(t.Context(), "more") // when the first expire
		synctest.Wait()
		require.Equal(t, 1, inUse(l))
		<-time.After(tuning.ReservedFor + time.Second)
		synctest.Wait()
		require.Zero(t, inUse(l))
		require.Zero(t, reserved(l))
	})
}

func TestTaskThatIsHandedOutTwiceTakesOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		l.Reserve(t.Context(), "run")
		l.Reserve(t.Context(), "run")
		require.Equal(t, 1, inUse(l))
		<-time.After(tuning.ReservedFor + time.Second)
		synctest.Wait()
	})
}

func TestNobodyWaitsForATurnForLongerThanHeMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		for n := range tuning.MinCompletions {
			l.Reserve(t.Context(), fmt.Sprint(n))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		l.Reserve(ctx, "hurried")
		require.Error(t, ctx.Err())
		require.Equal(t, tuning.MinCompletions, reserved(l), "the hurried one has none")
		<-time.After(tuning.ReservedFor + time.Second)
		synctest.Wait()
		require.Zero(t, inUse(l))
	})
}

// After a freeze a worker has many tasks that Temporal has given up. Nothing of them is
// recorded, and they must not take the turns of others.
func TestTaskThatTimedOutTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		hands(t, l, "frozen", 10*time.Second)
		<-time.After(10 * time.Second)
		require.False(t, l.TimedOut("frozen"))
		<-time.After(time.Millisecond)
		require.True(t, l.TimedOut("frozen"))
		l.Reserve(t.Context(), "frozen")
		require.Zero(t, reserved(l))

		hands(t, l, "frozen", 0) // once more: a heartbeat brings a new one
		require.False(t, l.TimedOut("frozen"))
		<-time.After(10*time.Second + 1)
		require.True(t, l.TimedOut("frozen"), "with the timeout of the first")
		require.False(t, l.TimedOut("never heard of"))
	})
}

// An overloaded worker has many tasks that timed out in the queue. Each would keep a turn until
// it expires, and the next rings would wait behind them until they time out too.
func TestTaskThatTimesOutInTheLineLeavesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := occupied(t)
		began := time.Now()
		hands(t, l, "overtaken", 10*time.Second)
		l.Reserve(t.Context(), "overtaken")
		require.Equal(t, 10*time.Second-tuning.LastTry, time.Since(began))
		require.Zero(t, l.concurrency.Waiting())
		require.Zero(t, reserved(l))
	})
}

// While its activity waits for a turn, the SDK asks for more time. Both are in the queue, and
// one turn is enough.
func TestTaskThatAsksForMoreTimeTakesOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := occupied(t)
		hands(t, l, "slow", 10*time.Second)
		var both sync.WaitGroup
		both.Go(func() { l.Reserve(t.Context(), "slow") })
		synctest.Wait()
		both.Go(func() { finishes(t, l, "slow") })
		synctest.Wait()
		require.Equal(t, 2, l.concurrency.Waiting())
		began := time.Now()
		l.concurrency.Discard()
		both.Wait()
		require.Equal(t, time.Millisecond, time.Since(began), "no turn lapses first")
		require.Zero(t, reserved(l))
		require.Equal(t, tuning.MinCompletions-1, inUse(l))
	})
}

// A refusal is quick. As a measure it would make records seem slow, and reduce the concurrency.
func TestRefusalsAreNoMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		ended := &workflowservice.RespondWorkflowTaskCompletedRequest{}
		refuse := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			<-time.After(time.Microsecond)
			return errors.New("workflow task not found")
		}
		require.Error(t, l.intercept(t.Context(), "", ended, nil, nil, refuse))
		require.Zero(t, inUse(l))
		require.Zero(t, l.concurrency.Quickest())
		finishes(t, l, "run")
		require.Equal(t, time.Millisecond, l.concurrency.Quickest(), "the oracle sees what is measured")
	})
}

// What has rung lets first tasks go first that come late, and only those.
func TestOverdueTasksGoBeforeCompletions(t *testing.T) {
	late := 2 * tuning.LateHandOut
	for name, c := range map[string]struct {
		answer func(*workflowservice.PollWorkflowTaskQueueResponse)
		waits  time.Duration
	}{
		"late": {func(poll *workflowservice.PollWorkflowTaskQueueResponse) {
			poll.History = &historypb.History{Events: []*historypb.HistoryEvent{began(time.Minute, late)}}
		}, tuning.HandOutsFirst},
		"in time": {func(poll *workflowservice.PollWorkflowTaskQueueResponse) {
			poll.History = &historypb.History{Events: []*historypb.HistoryEvent{began(time.Minute, 0)}}
		}, 0},
		"not the first of its run": {func(poll *workflowservice.PollWorkflowTaskQueueResponse) {
			poll.PreviousStartedEventId = 3
			poll.History = &historypb.History{Events: []*historypb.HistoryEvent{began(time.Minute, late)}}
		}, 0},
		"handed out again": {func(poll *workflowservice.PollWorkflowTaskQueueResponse) {
			poll.Attempt = 2
			poll.History = &historypb.History{Events: []*historypb.HistoryEvent{began(time.Minute, late)}}
		}, 0},
		"no history": {func(*workflowservice.PollWorkflowTaskQueueResponse) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, start := newLimiter(t), time.Now()
				hands(t, l, "rang", time.Minute)
				handsOut(t, l, "next", c.answer)
				l.ReserveLast(t.Context(), "rang")
				require.Equal(t, c.waits, time.Since(start))
				finishes(t, l, "rang")
				<-time.After(tuning.HandOutsFirst)
			})
		})
	}
}

// What has rung lets the timers of a dead worker go first as well, which come in place of a start.
func TestTasksOfADeadWorkerGoBeforeCompletions(t *testing.T) {
	for name, c := range map[string]struct {
		before int64 // the event by which the dead worker had the task
		waits  time.Duration
	}{"taken over": {3, tuning.HandOutsFirst}, "booked": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, start := newLimiter(t), time.Now()
				hands(t, l, "rang", time.Minute)
				invoke := func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					reply.(*workflowservice.StartWorkflowExecutionResponse).EagerWorkflowTask = &workflowservice.PollWorkflowTaskQueueResponse{
						TaskToken: []byte("next"), PreviousStartedEventId: c.before, WorkflowExecution: &commonpb.WorkflowExecution{RunId: "next"},
					}
					return nil
				}
				require.NoError(t, l.intercept(t.Context(), "", &workflowservice.StartWorkflowExecutionRequest{},
					&workflowservice.StartWorkflowExecutionResponse{}, nil, invoke))
				l.ReserveLast(t.Context(), "rang")
				require.Equal(t, c.waits, time.Since(start))
				finishes(t, l, "rang")
				<-time.After(tuning.HandOutsFirst)
			})
		})
	}
}

// Where Temporal hands out late tasks all the time, a caller still sees soon what becomes of a timer that
// waits for another time: its worker hands it back, and a worker applies the change. What has rung waits.
func TestWhatOthersWaitForIsNotDeferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, start := newLimiter(t), time.Now()
		const timeout = 2 * time.Minute
		for _, run := range []string{"rang", "handed back", "changed"} {
			hands(t, l, run, timeout)
		}
		late := func() {
			handsOut(t, l, "next", func(poll *workflowservice.PollWorkflowTaskQueueResponse) {
				poll.History = &historypb.History{Events: []*historypb.HistoryEvent{began(timeout, 2*tuning.LateHandOut)}}
			})
		}
		late()
		var rang sync.WaitGroup
		rang.Go(func() { l.ReserveLast(t.Context(), "rang") })
		synctest.Wait()
		l.Reserve(t.Context(), "handed back")
		finishes(t, l, "handed back")
		finishes(t, l, "changed")
		require.Equal(t, 2*time.Millisecond, time.Since(start))
		for range 5 {
			<-time.After(tuning.HandOutsFirst / 2)
			late()
		}
		require.Equal(t, 1, l.concurrency.Waiting(), "the control")
		rang.Wait()
		finishes(t, l, "rang")
	})
}

// The end of a task never waits beyond the task's own end, whoever holds the turns.
func TestNoEndWaitsForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := occupied(t)
		for run, wait := range map[string]time.Duration{"known": 3 * time.Second, "never heard of": tuning.CompletionWait} {
			if run == "known" {
				hands(t, l, run, wait+tuning.LastTry)
			}
			began := time.Now()
			finishes(t, l, run)
			require.Equal(t, wait+time.Millisecond, time.Since(began), run)
		}
		require.Equal(t, tuning.MinCompletions, inUse(l), "theirs were never taken")
	})
}

// The first task of an eagerly started run comes with the answer to its start.
func TestTaskInTheAnswerToAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t)
		began := &historypb.WorkflowExecutionStartedEventAttributes{WorkflowTaskTimeout: durationpb.New(time.Minute)}
		invoke := func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			reply.(*workflowservice.StartWorkflowExecutionResponse).EagerWorkflowTask = &workflowservice.PollWorkflowTaskQueueResponse{
				TaskToken: []byte("token"), WorkflowExecution: &commonpb.WorkflowExecution{RunId: "run"},
				History: &historypb.History{Events: []*historypb.HistoryEvent{{
					Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: began},
				}}},
			}
			return nil
		}
		require.NoError(t, l.intercept(t.Context(), "", &workflowservice.StartWorkflowExecutionRequest{},
			&workflowservice.StartWorkflowExecutionResponse{}, nil, invoke))
		<-time.After(59 * time.Second)
		require.False(t, l.TimedOut("run"))
		<-time.After(2 * time.Second)
		require.True(t, l.TimedOut("run"))
	})
}

// A task is known by the event by which it was handed to this process, as long as it is the newest.
func TestGot(t *testing.T) {
	t.Parallel()
	l := newLimiter(t)
	gets := func(startedID int64) {
		invoke := func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			poll := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
			poll.TaskToken, poll.WorkflowExecution, poll.StartedEventId = []byte("token"), &commonpb.WorkflowExecution{RunId: "run"}, startedID
			return nil
		}
		require.NoError(t, l.intercept(t.Context(), "", nil, &workflowservice.PollWorkflowTaskQueueResponse{}, nil, invoke))
	}
	require.False(t, l.Got("run", 3))
	gets(3)
	require.True(t, l.Got("run", 3))
	require.False(t, l.Got("run", 6))
	gets(6)
	require.True(t, l.Got("run", 6))
	require.False(t, l.Got("run", 3), "that one is over")
}
