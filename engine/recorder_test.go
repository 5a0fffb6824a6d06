package engine

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// hands lets the recorder see that a worker was handed the first task of a run.
func hands(t *testing.T, r *Recorder, run string) {
	t.Helper()
	invoke := func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		poll := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
		poll.TaskToken, poll.WorkflowExecution = []byte("token "+run), &commonpb.WorkflowExecution{RunId: run}
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
		for n := range leastTurns {
			hands(t, r, fmt.Sprint(n))
			r.Take(t.Context(), fmt.Sprint(n))
		}
		hands(t, r, "last")
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
		require.Equal(t, leastTurns, turnsTaken(r))
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
		for n := range leastTurns {
			r.Take(t.Context(), fmt.Sprint(n))
		}
		r.Take(t.Context(), "more") // when the first lapse
		synctest.Wait()
		require.Equal(t, 1, turnsTaken(r))
		<-time.After(recordTimeout + time.Second)
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
		<-time.After(recordTimeout + time.Second)
		synctest.Wait()
	})
}

func TestNobodyWaitsForATurnForLongerThanHeMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		for n := range leastTurns {
			r.Take(t.Context(), fmt.Sprint(n))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.Take(ctx, "hurried")
		require.Error(t, ctx.Err())
		require.Equal(t, leastTurns, turnsAhead(r), "the hurried one has none")
		<-time.After(recordTimeout + time.Second)
		synctest.Wait()
		require.Zero(t, turnsTaken(r))
	})
}
