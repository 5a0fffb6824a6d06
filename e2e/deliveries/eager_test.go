package deliveries

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// eagerEnv is a gateway with a worker beside it, on a Temporal of its own: nobody
// else is handed its timers.
func eagerEnv(t *testing.T) (h *testenv.Env, addr string) {
	t.Helper()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	h = testenv.Open(t, addr)
	h.StartWorkerBeside()
	return h, addr
}

// What a worker beside the gateway preloads at once costs half of the writes.
func TestEagerlyStarted(t *testing.T) {
	t.Parallel()
	h, _ := eagerEnv(t)
	r, kind := receiver.New(t), sample.Type(t)
	plain, slow := kind+".plain", kind+".slow"
	h.Policy(plain, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	h.Policy(slow, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "limits": testenv.JSON{"callbacks_per_second": 100}})
	h.Policy(kind+".paused", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "paused": true})
	h.Policy(kind+".late", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "preload": "1s"})
	for name, c := range map[string]struct {
		kind, delay         string
		fields              testenv.JSON
		transitions, events int64 // 0 where it is not waited for
	}{
		"due soon":       {kind: plain, delay: "2500ms", transitions: 2, events: 6},
		"due now":        {kind: plain, delay: "0s", transitions: 2, events: 6},
		"own receiver":   {kind: kind + ".none", delay: "1s", fields: testenv.JSON{"callback": testenv.JSON{"url": r.URL}}, transitions: 2, events: 6},
		"due in an hour": {kind: plain, delay: "1h"},
		"rate limited":   {kind: slow, delay: "30s"},
		"held back":      {kind: kind + ".paused", delay: "30s"},
		"chosen preload": {kind: kind + ".late", delay: "30s"},
		"recurring":      {kind: plain, fields: testenv.JSON{"recurrence": testenv.JSON{"every": "30s"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := fmt.Sprintf("%x", name)
			body := testenv.JSON{"business_type": c.kind, "business_id": id}
			if c.delay != "" {
				body["delay"] = c.delay
			}
			for field, value := range c.fields {
				body[field] = value
			}
			booked := h.Add(body)
			path := c.kind + "/" + id
			if c.transitions == 0 {
				require.False(t, withWorker(t, h, path))
				return
			}
			call := r.Await(t, id, 1)[0]
			require.False(t, call.At.Before(booked.DueAt), "it rang early")
			h.Await(path, "delivered")
			transitions, events := cost(t, h, path)
			require.Equal(t, c.transitions, transitions)
			require.Equal(t, c.events, events)
			require.Len(t, r.Calls(id), 1)
		})
	}
}

// withWorker is whether a worker was handed the timer as it was booked.
func withWorker(t *testing.T, h *testenv.Env, path string) bool {
	t.Helper()
	described, err := h.Client.DescribeWorkflowExecution(t.Context(), path, "")
	require.NoError(t, err)
	return described.GetPendingWorkflowTask() != nil
}

// bookEager books a timer that the worker beside the gateway has from then on.
func bookEager(t *testing.T, h *testenv.Env, kind, url string) {
	t.Helper()
	booked := h.Add(sample.Booking(kind, "1", tooLate, url))
	require.True(t, withWorker(t, h, kind+"/1"))
	require.Equal(t, "scheduled", booked.Status)
	listed := h.Do("GET", "/v1/timers?business_type="+kind+"&due_from="+wire.At(booked.DueAt).String(), nil)
	require.Equal(t, http.StatusOK, listed.Status)
}

// Whatever changes or ends a timer reaches one that was eagerly started, at once.
func TestChangedWhileEagerlyStarted(t *testing.T) { // it needs the machine for itself
	h, _ := eagerEnv(t)
	for name, c := range map[string]struct {
		method, path string
		body         testenv.JSON
		status       string
	}{
		"cancelled":      {"DELETE", "", nil, "cancelled"},
		"moved later":    {"PATCH", "", testenv.JSON{"delay": "1h"}, "scheduled"},
		"moved a little": {"PATCH", "", testenv.JSON{"delay": "4s"}, "delivered"},
		"moved earlier":  {"PATCH", "", testenv.JSON{"delay": "100ms"}, "delivered"},
		"new payload":    {"PATCH", "", testenv.JSON{"payload": testenv.JSON{"n": 2}, "delay": "1s"}, "delivered"},
		"replaced":       {"PUT", "", testenv.JSON{"delay": "100ms", "payload": testenv.JSON{"n": 2}}, "delivered"},
		"rung by a call": {"POST", "/fire", nil, "delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, kind := receiver.New(t), sample.Type(t)
			h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
			bookEager(t, h, kind, r.URL)
			reply := h.Do(c.method, "/v1/timers/"+kind+"/1"+c.path, body(c.body))
			require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
			if c.status != "delivered" {
				require.Equal(t, c.status, h.Get(kind+"/1").Status)
				require.Empty(t, r.Calls("1"))
				return
			}
			call := r.Await(t, "1", 1)[0]
			require.False(t, call.At.Before(reply.Timer().DueAt))
			require.Equal(t, "2", call.Header.Get("Wakecall-Revision"))
			h.Await(kind+"/1", "delivered")
			require.Len(t, r.Calls("1"), 1)
		})
	}
}

// Temporal's own tools are seen as well, right before the ring.
func TestEndedWhileEagerlyStarted(t *testing.T) { // it needs the machine for itself
	h, addr := eagerEnv(t)
	r, kind := receiver.New(t), sample.Type(t)
	tools := map[string][]string{
		"tctl-cancel":        {process.Tctl(t), "cancel"},
		"tctl-terminate":     {process.Tctl(t), "terminate"},
		"temporal-cancel":    {process.Temporal(t), "cancel"},
		"temporal-terminate": {process.Temporal(t), "terminate"},
	}
	var due time.Time
	for id := range tools {
		due = h.Add(sample.Booking(kind, id, "50s", r.URL)).DueAt
		require.True(t, withWorker(t, h, kind+"/"+id))
	}
	rings := h.Add(sample.Booking(kind, "rings", "8s", r.URL))
	for id, tool := range tools {
		flags := []string{"workflow", tool[1], "--address", addr, "--workflow-id", kind + "/" + id}
		if tool[0] == process.Tctl(t) {
			flags = append([]string{"--address", addr}, "workflow", tool[1], "--workflow_id", kind+"/"+id)
		}
		process.Execute(t, tool[0], flags...)
	}
	require.True(t, time.Now().Before(rings.DueAt), "all of them came before the ring")
	r.Await(t, "rings", 1)
	h.Await(kind+"/rings", "delivered")
	for id := range tools {
		h.Await(kind+"/"+id, "cancelled")
	}
	require.True(t, time.Now().Before(due.Add(-20*time.Second)), "its worker asks now and then")
	require.Len(t, r.All(), 1)
}

// A worker that stops hands what it has to another one, which rings it in time and once.
func TestHandedBackAfterAnEagerStart(t *testing.T) { // it needs the machine for itself
	leaves, addr := eagerEnv(t)
	stays := testenv.Open(t, addr)
	r, kind := receiver.New(t), sample.Type(t)
	const timers = 50
	leaves.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	due := wire.At(time.Now().Add(15 * time.Second)).String()
	for n := range timers {
		leaves.Add(testenv.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "due_at": due})
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.InDelta(c, timers, metric(t, leaves, "wakecall_preloaded_timers"), 0)
	}, testenv.Patience, 10*time.Millisecond, "a task that came back with its booking is begun a moment later")
	stays.StartWorker()
	leaves.StopWorker()
	r.AwaitAll(t, timers)
	for n := range timers {
		require.Equal(t, 1, stays.Await(kind+"/"+fmt.Sprint(n), "delivered").Attempts)
	}
	late := 0
	for _, call := range r.All() {
		if call.At.Sub(mustTime(t, call.Header.Get("Wakecall-Due-At"))) > taskTimeout {
			late++
		}
	}
	require.Less(t, late, timers/4, "a starved Temporal loses some tasks until they time out")
	require.Len(t, r.All(), timers)
}

// A worker that stops, with nobody to take over, leaves what came of an attempt whose end
// collided with a change: whoever starts next does not call again.
func TestTheOnlyWorkerLeavesItsReceipts(t *testing.T) {
	t.Parallel()
	leftReceipt(t, sample.Type(t))
}

// leftReceipt is where a timer, of id 1, was delivered by a worker that was stopped, and
// ended by the one after it.
func leftReceipt(t *testing.T, kind string) *testenv.Env {
	t.Helper()
	leaves, addr := eagerEnv(t)
	comes, r := testenv.Open(t, addr), receiver.New(t)
	answers := make(chan int)
	leaves.Add(sample.Booking(kind, "1", "1ms", r.On("/", receiver.AnsweredBy(answers))))
	r.Await(t, "1", 1)
	replies := make(chan testenv.Reply, 1)
	go func() { replies <- leaves.Do("PATCH", "/v1/timers/"+kind+"/1?wait=30s", testenv.JSON{"delay": "1h"}) }()
	awaitMarks(t, leaves, kind+"/1", 1)
	leaves.Add(sample.Booking(kind, "held", "50s", r.URL))
	require.Positive(t, metric(t, leaves, "wakecall_preloaded_timers"))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		leaves.StopWorker()
	}()
	require.Eventually(t, func() bool { return metric(t, leaves, "wakecall_preloaded_timers") == 0 }, testenv.Patience, 10*time.Millisecond,
		"it polls no more, and releases what it has preloaded")
	answers <- http.StatusOK
	<-stopped
	comes.StartWorker()
	require.Equal(t, http.StatusConflict, (<-replies).Status)
	comes.Await(kind+"/1", "delivered")
	require.Len(t, r.All(), 1)
	return comes
}

// none is a worker without room.
type none struct{}

func (none) Room(timer.Memo, float64) bool { return false }

// Where the worker has no room, or none is there any more, a timer is booked the way
// that it is booked elsewhere.
func TestNoRoomForAnEagerStart(t *testing.T) {
	t.Parallel()
	h, _ := eagerEnv(t)
	r, kind := receiver.New(t), sample.Type(t)
	h.Engine.Timers.PreloadHere(none{})
	h.Add(sample.Booking(kind, "1", "8s", r.URL))
	require.False(t, withWorker(t, h, kind+"/1"))
	h.Await(kind+"/1", "delivered")
	transitions, events := cost(t, h, kind+"/1")
	require.Equal(t, int64(4), transitions)
	require.Equal(t, int64(6), events)
}

// A client that goes away while it books takes no task with it.
func TestNobodyHearsTheEagerStart(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	var left atomic.Pointer[context.CancelFunc]
	h := testenv.OpenThrough(t, addr, testenv.Settings(), func(
		ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		if _, starts := request.(*workflowservice.StartWorkflowExecutionRequest); starts {
			if leave := left.Load(); leave != nil {
				(*leave)()
			}
		}
		return invoke(ctx, method, request, reply, conn, options...)
	})
	h.StartWorkerBeside()
	r, kind := receiver.New(t), sample.Type(t)
	request := h.Request("POST", "/v1/timers", sample.Booking(kind, "1", "1s", r.URL))
	ctx, leave := context.WithCancel(t.Context())
	left.Store(&leave)
	_, err = (&http.Client{Timeout: 10 * time.Second}).Do(request.WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	r.Await(t, "1", 1)
	done := h.Await(kind+"/1", "delivered")
	require.Less(t, *done.LatenessMS, taskTimeout.Milliseconds(), "its task did not have to time out")
	transitions, _ := cost(t, h, kind+"/1")
	require.Equal(t, int64(2), transitions)
}

// Temporal's store takes too long to write a booking, and the end of a task, whether it
// writes them all the same or not. Neither is lost, and the receiver is called once, in time.
func TestTheStoreTakesTooLong(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]bool{"and writes it": true, "and does not write it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, stop, err := testenv.Temporal(t.TempDir())
			require.NoError(t, err)
			t.Cleanup(stop)
			s := slowStore{written: written}
			h := testenv.OpenThrough(t, addr, testenv.Settings(), s.intercept)
			h.StartWorkerBeside()
			r, kind := receiver.New(t), sample.Type(t)
			s.slow.Store(true)
			h.Add(sample.Booking(kind, "1", "1s", r.URL))
			r.Await(t, "1", 1)
			done := h.Await(kind+"/1", "delivered")
			require.Less(t, *done.LatenessMS, taskTimeout.Milliseconds(), "its task did not have to time out")
			require.Len(t, r.Calls("1"), 1)
			require.EqualValues(t, 1, s.starts.Load(), "the fault is real")
			require.EqualValues(t, 1, s.ends.Load())
			transitions, _ := cost(t, h, kind+"/1")
			require.EqualValues(t, 2, transitions)
		})
	}
}

// slowStore is a Temporal that answers the first start and the first end of a task as it
// does when its store takes too long.
type slowStore struct {
	written      bool
	slow         atomic.Bool
	starts, ends atomic.Int32 // answered so
}

//nolint:revive // gRPC's signature
func (s *slowStore) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	var late bool
	switch request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		late = s.slow.Load() && s.starts.CompareAndSwap(0, 1)
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		late = s.slow.Load() && s.ends.CompareAndSwap(0, 1)
	}
	if late && !s.written {
		return grpcstatus.Error(codes.DeadlineExceeded, "")
	}
	if err := invoke(ctx, method, request, reply, conn, options...); err != nil || !late {
		return err
	}
	return grpcstatus.Error(codes.DeadlineExceeded, "")
}

// What a killed process had been handed rings when the tasks time out, and once.
func TestKilledWithEagerTimers(t *testing.T) {
	t.Parallel()
	h, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	first := h.Start()
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	booked := h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "2s"})
	first.Kill()
	h.Start()
	call := r.Await(t, "1", 1)[0]
	require.False(t, call.At.Before(booked.DueAt))
	t.Logf("%s late", call.At.Sub(booked.DueAt).Round(time.Millisecond))
	h.Await(kind+"/1", "delivered")
	require.Len(t, r.Calls("1"), 1)
}
