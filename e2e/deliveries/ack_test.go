package deliveries

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// notAwaited expects a refusal that has the timer's true state.
func notAwaited(t *testing.T, err error, status timer.Status) {
	t.Helper()
	var problem *client.Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, wire.NotAwaited, problem.Code())
	require.Equal(t, status, problem.Timer.Status)
}

// A receiver that answers 202 says later what became of it.
func TestAcknowledgedLater(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	testenv.Accepts(env, r, kind, nil)
	say, ctx := env.Wakecall().Deliveries, t.Context()
	t.Run("acked, and again", func(t *testing.T) {
		shown, d := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/1", Number: 1})
		require.Equal(t, "delivering", shown.Status)
		require.Equal(t, "ack", shown.WaitsFor)
		require.Equal(t, "receiver", shown.WaitsBy)
		require.Equal(t, shown.AckUntil, shown.WaitsUntil)
		require.Zero(t, shown.NextAttemptAt)
		attempts := attemptsOf(t, env, kind+"/1")
		require.Equal(t, delivery.ResultAccepted, attempts[0].Result)
		require.NotZero(t, attempts[0].AckUntil)
		view, pending, err := say.Ack(ctx, d, testenv.Patient)
		require.NoError(t, err)
		require.False(t, pending)
		require.Equal(t, timer.Delivered, view.Status)
		require.Zero(t, view.AckUntil)
		require.NotNil(t, view.LatenessMS)
		attempts = attemptsOf(t, env, kind+"/1")
		require.Equal(t, delivery.ResultDelivered, attempts[0].Result)
		require.Equal(t, view.DeliveredAt, attempts[0].SettledAt)
		transitions, events := cost(t, env, kind+"/1")
		require.Equal(t, []int64{6, 16}, []int64{transitions, events}, "three transitions beside those of a timer that is due at once")
		_, _, err = say.Ack(ctx, d, nil)
		require.NoError(t, err, "it is so already")
		_, _, err = say.Nack(ctx, d, client.Failure{})
		notAwaited(t, err, timer.Delivered)
		require.Len(t, r.Calls("1"), 1)
		noTrace(t, env, kind+"/1", d.Token)
	})
	t.Run("nacked, then acked", func(t *testing.T) {
		_, first := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/2", Number: 1})
		view, pending, err := say.Nack(ctx, first, client.Failure{Reason: "out of stock"})
		require.NoError(t, err)
		if !pending { // a busy machine takes longer than the call waits
			require.Equal(t, delivery.Nacked, view.LastFailure.Class)
			require.Equal(t, "nacked: out of stock", view.LastFailure.Message)
		}
		_, second := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/2", Number: 2})
		require.NotEqual(t, first.Token, second.Token)
		view, _, err = say.Nack(ctx, first, client.Failure{})
		require.NoError(t, err, "it is so already")
		require.Equal(t, []any{timer.Delivering, 2}, []any{view.Status, view.Attempts}, "and the second attempt is still awaited")
		view, _, err = say.Ack(ctx, first, testenv.Patient)
		require.NoError(t, err, "the work is done, whichever attempt did it")
		require.Equal(t, []any{timer.Delivered, 2}, []any{view.Status, view.Attempts})
		attempts := attemptsOf(t, env, kind+"/2")
		require.Equal(t, []delivery.Result{delivery.ResultDelivered, delivery.ResultRetry}, []delivery.Result{attempts[0].Result, attempts[1].Result})
		require.Equal(t, "out of stock", attempts[1].Answer)
	})
	t.Run("acked before the 202", func(t *testing.T) {
		r.On("/hasty", func(w http.ResponseWriter, call *http.Request, _ int) {
			_, pending, err := say.Ack(call.Context(), client.DeliveryOf(call.Header), client.After(0))
			if err == nil && pending {
				w.WriteHeader(http.StatusAccepted)
			} else {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		env.Add(sample.Booking(kind, "3", "0s", r.URL+"/hasty"))
		env.Await(kind+"/3", "delivered")
		require.Len(t, r.Calls("3"), 1)
	})
	t.Run("by a key, found by the webhook id", func(t *testing.T) {
		_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/4", Number: 1})
		delivery.Token = ""
		view, _, err := say.Nack(ctx, delivery, client.Failure{RetryAfter: time.Hour})
		require.NoError(t, err)
		require.Equal(t, timer.Delivering, view.Status)
		require.Eventually(t, func() bool { return !env.Get(kind + "/4").NextAttemptAt.IsZero() }, testenv.Patience, testenv.Interval, "the wait is in Temporal's hands")
		_, _, err = say.Ack(ctx, delivery, nil)
		notAwaited(t, err, timer.Delivering)
	})
}

// Temporal alone holds the wait: neither the worker nor the gateway of the 202 is needed for
// what follows, and a word that no worker hears yet is kept.
func TestAcknowledgedWithoutThoseWhoWereThere(t *testing.T) {
	t.Parallel()
	addr := testenv.Alone(t)
	first, r, kind := testenv.Open(t, addr), receiver.New(t), sample.Type(t)
	first.StartWorker()
	testenv.Accepts(first, r, kind, nil)
	_, done := testenv.Accepted(t, first, r, testenv.Nth{Path: kind + "/1", Number: 1})
	_, failed := testenv.Accepted(t, first, r, testenv.Nth{Path: kind + "/2", Number: 1})
	_, ended := testenv.Accepted(t, first, r, testenv.Nth{Path: kind + "/3", Number: 1})
	first.StopWorker()

	other := testenv.Open(t, addr)
	say := other.Wakecall().Deliveries
	require.NotZero(t, other.Get(kind+"/1").AckUntil, "it is seen without a worker")
	view, pending, err := say.Ack(t.Context(), done, client.After(50*time.Millisecond))
	require.NoError(t, err)
	require.True(t, pending)
	require.Equal(t, timer.Delivering, view.Status)
	require.Equal(t, http.StatusAccepted, other.Do("DELETE", "/v1/timers/"+kind+"/3?wait=50ms", nil).Status)
	_, _, err = say.Ack(t.Context(), ended, client.After(50*time.Millisecond))
	require.ErrorContains(t, err, "cancel", "it would be lost behind the cancel")
	other.StartWorker()
	require.Equal(t, 1, other.Await(kind+"/1", "delivered").Attempts)
	other.Await(kind+"/3", "cancelled")
	_, _, err = say.Nack(t.Context(), failed, client.Failure{Reason: "no"})
	require.NoError(t, err)
	r.Await(t, "2", 2)
	require.Len(t, r.Calls("1"), 1)
}

func attemptsOf(t *testing.T, env *testenv.Env, path string) []delivery.ShownAttempt {
	t.Helper()
	var page struct{ Attempts []delivery.ShownAttempt }
	env.Do("GET", "/v1/timers/"+path+"/attempts", nil).Into(&page)
	return page.Attempts
}

// noTrace expects that a secret stands nowhere in a history.
func noTrace(t *testing.T, env *testenv.Env, path, secret string) {
	t.Helper()
	history := env.Client.GetWorkflowHistory(context.Background(), path, "", false, 0)
	for history.HasNext() {
		var event *historypb.HistoryEvent
		event, err := history.Next()
		require.NoError(t, err)
		text, err := protojson.Marshal(event)
		require.NoError(t, err)
		require.NotContains(t, string(text), secret)
	}
}

// What was accepted, and is ended by Temporal's own programs, is acknowledged by nobody any
// more.
func TestTemporalsProgramsEndWhatWasAccepted(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	testenv.Accepts(env, r, kind, nil)
	for name, end := range process.Endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := kind + "/" + strings.ReplaceAll(name, " ", "-")
			_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: path, Number: 1})
			process.Execute(t, end.Program(t), "--address", testenv.Addr, "workflow", end.Verb, "-w", path)
			require.Zero(t, env.Await(path, "cancelled").AckUntil)
			_, _, err := env.Wakecall().Deliveries.Ack(t.Context(), delivery, nil)
			notAwaited(t, err, timer.Cancelled)
		})
	}
}
