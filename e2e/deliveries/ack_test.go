package deliveries

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
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
		require.Eventually(t, func() bool { return !env.Get(kind + "/4").NextAttemptAt.IsZero() }, testenv.Patience, 10*time.Millisecond, "the wait is in Temporal's hands")
		_, _, err = say.Ack(ctx, delivery, nil)
		notAwaited(t, err, timer.Delivering)
	})
	t.Run("cancelled meanwhile", func(t *testing.T) {
		_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/5", Number: 1})
		require.Equal(t, "cancelled", env.Do("DELETE", "/v1/timers/"+kind+"/5", nil).Timer().Status)
		_, _, err := say.Ack(ctx, delivery, nil)
		notAwaited(t, err, timer.Cancelled)
	})
	t.Run("moved meanwhile", func(t *testing.T) {
		_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/6", Number: 1})
		require.Equal(t, "scheduled", env.Do("PATCH", "/v1/timers/"+kind+"/6", testenv.JSON{"delay": "1h"}).Timer().Status)
		_, _, err := say.Ack(ctx, delivery, nil)
		notAwaited(t, err, timer.Scheduled)
	})
	t.Run("a 200 delivers at once", func(t *testing.T) {
		env.Add(sample.Booking(kind, "7", "0s", r.URL))
		env.Await(kind+"/7", "delivered")
	})
	t.Run("nobody speaks for another delivery", func(t *testing.T) {
		_, d := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/8", Number: 1})
		_, other := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/9", Number: 1})
		for _, token := range []string{other.Token, "x", "a.b.c", d.Token + "A", strings.Replace(d.Token, ".1.", ".2.", 1)} {
			_, _, err := say.Ack(ctx, client.Delivery{WebhookID: d.WebhookID, Token: token}, nil)
			require.Equal(t, wire.WrongAckToken, testenv.CodeOf(t, err), token)
		}
		for _, id := range []string{"x", timer.MessageID("nothing")} {
			_, _, err := say.Ack(ctx, client.Delivery{WebhookID: id}, nil)
			require.Equal(t, wire.NotFound, testenv.CodeOf(t, err))
		}
		require.NotZero(t, env.Get(kind+"/8").AckUntil)
		path := "/v1/deliveries/" + d.WebhookID
		for pointer, body := range map[string]string{
			"/reason":      `{"reason":"` + strings.Repeat("x", 401) + `"}`,
			"/retry_after": `{"retry_after":"-1s"}`,
			"/why":         `{"why":1}`,
		} {
			require.Equal(t, pointer, env.Do("POST", path+"/nack", body).Problem().Errors[0].Pointer)
		}
		require.Equal(t, "/reason", env.Do("POST", path+"/ack", `{"reason":"x"}`).Problem().Errors[0].Pointer)
		request := env.Request("POST", path+"/ack", nil)
		request.Header[delivery.HeaderAckToken] = []string{d.Token, d.Token}
		require.Equal(t, delivery.HeaderAckToken, env.Send(request).Problem().Errors[0].Pointer)
		require.NotZero(t, env.Get(kind+"/8").AckUntil, "none of it was heard")
	})
}

// Temporal alone holds the wait: neither the worker nor the gateway of the 202 is needed for
// what follows, and a word that no worker hears yet is kept.
func TestAcknowledgedWithoutThoseWhoWereThere(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
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

// The attempt after a nack may be accepted, or answered, before the gateway that took the
// nack looks what became of it. A nack that comes after its time is refused all the same.
func TestANackIsOvertakenByTheNextAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		next       int
		within     string
		heldBefore bool
		wait       client.Wait
		status     timer.Status
	}{
		"it is accepted":    {next: http.StatusAccepted, within: "10m", wait: testenv.Patient, status: timer.Delivering},
		"it delivers":       {next: http.StatusOK, within: "10m", wait: testenv.Patient, status: timer.Delivered},
		"it came by itself": {next: http.StatusAccepted, within: "2s", heldBefore: true, wait: testenv.Patient, status: timer.Delivering},
		"nobody waits for it": {
			next: http.StatusAccepted, within: "2s", heldBefore: true, wait: client.After(0), status: timer.Delivering,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, kind := receiver.New(t), sample.Type(t)
			goOn := make(chan struct{})
			env := testenv.OpenThrough(t, testenv.Addr, testenv.Settings(), wordHeld(kind+"/1", c.heldBefore, goOn))
			testenv.Accepts(env, r, kind, testenv.JSON{"ack": testenv.JSON{"within": c.within}, "callback": testenv.JSON{
				"url": r.On("/next", func(w http.ResponseWriter, _ *http.Request, n int) {
					w.WriteHeader([]int{http.StatusAccepted, c.next}[min(n, 2)-1])
				}),
			}})
			_, first := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/1", Number: 1})
			said := make(chan error, 1)
			go func() {
				_, _, err := env.Wakecall().Deliveries.Nack(t.Context(), first, client.Failure{Reason: "no", Wait: c.wait})
				said <- err
			}()
			require.Eventually(t, func() bool {
				shown := env.Get(kind + "/1")
				return shown.Attempts == 2 && (shown.Status == string(timer.Delivered) || !shown.AckUntil.IsZero())
			}, testenv.Patience, 10*time.Millisecond, "the second attempt has its answer")
			close(goOn)
			err := <-said
			if c.heldBefore {
				notAwaited(t, err, c.status)
				return
			}
			require.NoError(t, err)
			require.Equal(t, string(c.status), env.Get(kind+"/1").Status)
		})
	}
}

// wordHeld holds a gateway up that tells a timer's run what its receiver said: before it
// tells, or after.
func wordHeld(workflowID string, before bool, goOn <-chan struct{}) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		signal, ok := in.(*workflowservice.SignalWorkflowExecutionRequest)
		held := ok && signal.GetSignalName() == workflows.SignalAcknowledge && signal.GetWorkflowExecution().GetWorkflowId() == workflowID
		if held && before {
			<-goOn
			ctx = context.WithoutCancel(ctx) // however long that took
		}
		err := invoke(ctx, method, in, out, conn, o...)
		if held {
			<-goOn
		}
		return err
	}
}

// What a policy may say of it.
func TestThePolicyOfAcknowledgements(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	for body, pointer := range map[string]string{
		`{"callback":{"url":"` + r.URL + `"},"ack":{}}`:                           "/ack/within",
		`{"callback":{"url":"` + r.URL + `"},"ack":{"within":"0s"}}`:              "/ack/within",
		`{"callback":{"url":"` + r.URL + `"},"ack":{"within":"-1s"}}`:             "/ack/within",
		`{"callback":{"url":"` + r.URL + `"},"ack":{"within":"169h"}}`:            "/ack/within",
		`{"callback":{"url":"` + r.URL + `"},"ack":{"within":"1m","after":"1s"}}`: "/ack/after",
		`{"callback":{"stream":true},"ack":{"within":"1m"}}`:                      "/ack",
	} {
		reply := env.Do("PUT", "/v1/policies/"+kind, body)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, body)
		require.Equal(t, pointer, reply.Problem().Errors[0].Pointer, body)
	}
	testenv.Accepts(env, r, kind, nil)
	patched, err := env.Wakecall().Policies.Patch(t.Context(), kind, testenv.JSON{"ack": nil}, 0)
	require.NoError(t, err)
	require.Nil(t, patched.Ack)
	plain := kind + ".plain"
	env.Policy(plain, testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/accept"}})
	env.Add(testenv.JSON{"business_type": plain, "business_id": "1", "delay": "0s"})
	env.Await(plain+"/1", "delivered")
	require.Empty(t, r.Calls("1")[0].Header.Get(delivery.HeaderAckToken))
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
