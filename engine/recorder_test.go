package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// hands lets the recorder see that a worker was handed a task of a run. Only the
// first one tells its timeout.
func hands(t *testing.T, r *Recorder, run string, timeout time.Duration) {
	t.Helper()
	history := &historypb.History{}
	if timeout > 0 {
		began := &historypb.WorkflowExecutionStartedEventAttributes{WorkflowTaskTimeout: durationpb.New(timeout)}
		history.Events = []*historypb.HistoryEvent{{
			Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: began},
		}}
	}
	invoke := func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		poll := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
		poll.TaskToken, poll.WorkflowExecution = []byte("token "+run), &commonpb.WorkflowExecution{RunId: run}
		poll.History = history
		return nil
	}
	require.NoError(t, r.intercept(t.Context(), "", &workflowservice.PollWorkflowTaskQueueRequest{},
		&workflowservice.PollWorkflowTaskQueueResponse{}, nil, invoke))
}

// finishes ends a task, which takes a millisecond.
func finishes(t *testing.T, r *Recorder, run string) {
	t.Helper()
	invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		<-time.After(time.Millisecond)
		return nil
	}
	require.NoError(t, r.intercept(t.Context(), "", &workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("token " + run)},
		&workflowservice.RespondWorkflowTaskCompletedResponse{}, nil, invoke))
}

func newRecorder(t *testing.T) *Recorder {
	r, err := NewRecorder()
	require.NoError(t, err)
	return r
}

// occupied is a recorder of which somebody has every turn.
func occupied(t *testing.T) *Recorder {
	r := newRecorder(t)
	for range leastRecords {
		_, ok := r.turns.take(t.Context(), time.Time{})
		require.True(t, ok)
	}
	return r
}

func turnsTaken(r *Recorder) int {
	r.turns.mu.Lock()
	defer r.turns.mu.Unlock()
	return r.turns.taken
}

func turnsAhead(r *Recorder) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ahead)
}

func TestTurnTakenAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		for n := range leastRecords {
			hands(t, r, fmt.Sprint(n), time.Minute)
			r.Take(t.Context(), fmt.Sprint(n))
		}
		hands(t, r, "last", time.Minute)
		turn := make(chan struct{})
		go func() { r.Take(t.Context(), "last"); close(turn) }()
		synctest.Wait()
		select {
		case <-turn:
			require.Fail(t, "every turn is taken")
		default:
		}
		finishes(t, r, "0") // at once: it has one
		<-turn
		require.Equal(t, leastRecords, turnsTaken(r))
		finishes(t, r, "1")
		finishes(t, r, "last")
		finishes(t, r, "never heard of") // takes its own
		require.Zero(t, turnsTaken(r))
		require.Zero(t, turnsAhead(r))
	})
}

func TestUnusedTurnsLapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		for n := range leastRecords {
			r.Take(t.Context(), fmt.Sprint(n))
		}
		r.Take(t.Context(), "more") // when the first lapse
		synctest.Wait()
		require.Equal(t, 1, turnsTaken(r))
		<-time.After(unusedFor + time.Second)
		synctest.Wait()
		require.Zero(t, turnsTaken(r))
		require.Zero(t, turnsAhead(r))
	})
}

func TestTaskThatIsHandedOutTwiceTakesOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		r.Take(t.Context(), "run")
		r.Take(t.Context(), "run")
		require.Equal(t, 1, turnsTaken(r))
		<-time.After(unusedFor + time.Second)
		synctest.Wait()
	})
}

func TestNobodyWaitsForATurnForLongerThanHeMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		for n := range leastRecords {
			r.Take(t.Context(), fmt.Sprint(n))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Take(ctx, "hurried")
		require.Error(t, ctx.Err())
		require.Equal(t, leastRecords, turnsAhead(r), "the hurried one has none")
		<-time.After(unusedFor + time.Second)
		synctest.Wait()
		require.Zero(t, turnsTaken(r))
	})
}

// After a freeze a worker has many tasks that Temporal has given up. Nothing is
// recorded of them, and they must not take the turns of others.
func TestTaskThatTimedOutTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		hands(t, r, "frozen", 10*time.Second)
		<-time.After(10 * time.Second)
		require.False(t, r.TimedOut("frozen"))
		<-time.After(time.Millisecond)
		require.True(t, r.TimedOut("frozen"))
		r.Take(t.Context(), "frozen")
		require.Zero(t, turnsAhead(r))

		hands(t, r, "frozen", 0) // once more: what heartbeats has a new one
		require.False(t, r.TimedOut("frozen"))
		<-time.After(10*time.Second + 1)
		require.True(t, r.TimedOut("frozen"), "with the timeout of the first")
		require.False(t, r.TimedOut("never heard of"))
	})
}

// A worker that had too much to do has many tasks that timed out while they waited
// for their turn. Each would keep one for as long as it takes to lapse, and what
// rings next would wait behind them until it times out as well.
func TestTaskThatTimesOutInTheLineLeavesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := occupied(t)
		began := time.Now()
		hands(t, r, "overtaken", 10*time.Second)
		r.Take(t.Context(), "overtaken")
		require.Equal(t, 10*time.Second-lastTry, time.Since(began))
		require.Zero(t, r.turns.queued())
		require.Zero(t, turnsAhead(r))
	})
}

// While its activity waits for a turn the SDK asks for more time: both are in the
// line, and one turn is enough.
func TestTaskThatAsksForMoreTimeTakesOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := occupied(t)
		hands(t, r, "slow", 10*time.Second)
		var both sync.WaitGroup
		both.Go(func() { r.Take(t.Context(), "slow") })
		synctest.Wait()
		both.Go(func() { finishes(t, r, "slow") })
		synctest.Wait()
		require.Equal(t, 2, r.turns.queued())
		began := time.Now()
		r.turns.giveBack()
		both.Wait()
		require.Equal(t, time.Millisecond, time.Since(began), "no turn lapses first")
		require.Zero(t, turnsAhead(r))
		require.Equal(t, leastRecords-1, turnsTaken(r))
	})
}

// A refusal is quick. Taken for the measure, it would let records seem slow, and
// fewer go at once than could.
func TestRefusalsAreNoMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		ended := &workflowservice.RespondWorkflowTaskCompletedRequest{}
		refuse := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			<-time.After(time.Microsecond)
			return errors.New("workflow task not found")
		}
		require.Error(t, r.intercept(t.Context(), "", ended, nil, nil, refuse))
		require.Zero(t, turnsTaken(r))
		require.Zero(t, r.turns.quickest)
		finishes(t, r, "run")
		require.Equal(t, time.Millisecond, r.turns.quickest, "the oracle sees what is measured")
	})
}

// What ends a task never waits beyond the task's own end, whoever sits on the
// turns.
func TestNoEndWaitsForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := occupied(t)
		for run, wait := range map[string]time.Duration{"known": 3 * time.Second, "never heard of": longestWait} {
			if run == "known" {
				hands(t, r, run, wait+lastTry)
			}
			began := time.Now()
			finishes(t, r, run)
			require.Equal(t, wait+time.Millisecond, time.Since(began), run)
		}
		require.Equal(t, leastRecords, turnsTaken(r), "theirs were never taken")
	})
}
