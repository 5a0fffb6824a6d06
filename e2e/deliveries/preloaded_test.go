package deliveries

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/tuning"
)

// eagerEnv is a gateway with a worker beside it, on a Temporal of its own: nobody
// else is handed its timers.
func eagerEnv(t testing.TB) (h *testenv.Env, addr string) {
	t.Helper()
	addr = testenv.Alone(t)
	h = testenv.Open(t, addr)
	h.StartWorkerBeside()
	return h, addr
}

// What a worker beside the gateway preloads at once costs half of the writes, and what waits for
// longer, or for a limit, is booked the way that it is booked elsewhere.
func TestEagerlyStarted(t *testing.T) {
	t.Parallel()
	h, _ := eagerEnv(t)
	r, kind := receiver.New(t), sample.Type(t)
	h.Policy(kind+".slow", testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "limits": testenv.JSON{"callbacks_per_second": 100}})
	for _, path := range [][2]string{{kind + ".slow", "30s"}, {kind, "1h"}} {
		h.Add(sample.Booking(path[0], "later", path[1], r.URL))
		require.False(t, h.WithWorker(path[0]+"/later"), path)
	}
	for id, delay := range map[string]string{"soon": "2500ms", "now": "0s"} {
		booked := h.Add(sample.Booking(kind, id, delay, r.URL))
		call := r.Await(t, id, 1)[0]
		require.False(t, call.At.Before(booked.DueAt), "it rang early")
		h.Await(kind+"/"+id, "delivered")
		transitions, events := cost(t, h, kind+"/"+id)
		require.Equal(t, []int64{2, 6}, []int64{transitions, events}, id)
		require.Len(t, r.Calls(id), 1)
	}
}

// bookEager books a timer that the worker beside the gateway has from then on.
func bookEager(t testing.TB, h *testenv.Env, kind, url string) (id string) {
	t.Helper()
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url}})
	h.Add(sample.Booking(kind, "1", tooLate, url))
	require.True(t, h.WithWorker(kind+"/1"))
	return "1"
}

// preloaders are the ways in which a worker gets a timer before it is due: by a wake-up, and as
// it is booked. Each has a Temporal of its own, at addr.
var preloaders = map[string]struct {
	open   func(t testing.TB) (h *testenv.Env, addr string)
	book   func(t testing.TB, h *testenv.Env, kind, url string) (id string)
	policy testenv.JSON
	most   float64 // at least this part of many at once is preloaded soon
}{
	"woken": {func(t testing.TB) (*testenv.Env, string) {
		addr := testenv.Alone(t)
		h := testenv.Open(t, addr)
		h.StartWorker()
		return h, addr
	}, bookHeld, testenv.JSON{"preload": "20s"}, 0.5},
	"as it is booked": {eagerEnv, bookEager, nil, 0.99},
}

// A change of a timer that a worker has preloaded takes effect at once, and not only when the
// timer is about to ring.
func TestChangedWhilePreloaded(t *testing.T) { // it needs the machine for itself
	for way, preloader := range preloaders {
		h, _ := preloader.open(t)
		for name, c := range map[string]struct {
			method, path string
			body         testenv.JSON
			rings        bool
		}{
			"cancelled":      {"DELETE", "", nil, false},
			"moved later":    {"PATCH", "", testenv.JSON{"delay": "1h"}, false},
			"moved a little": {"PATCH", "", testenv.JSON{"delay": "4s"}, true},
			"moved earlier":  {"PATCH", "", testenv.JSON{"delay": "100ms", "payload": testenv.JSON{"n": 2}}, true},
			"replaced":       {"PUT", "", testenv.JSON{"delay": "100ms", "payload": testenv.JSON{"n": 2}}, true},
			"rung by a call": {"POST", "/fire", nil, true},
		} {
			t.Run(way+" "+name, func(t *testing.T) {
				t.Parallel()
				h, r, kind := h.For(t), receiver.New(t), sample.Type(t)
				id := preloader.book(t, h, kind, r.URL)
				require.Equal(t, "scheduled", h.Get(kind+"/"+id).Status)
				reply := h.Do(c.method, "/v1/timers/"+kind+"/"+id+c.path, c.body)
				require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
				if !c.rings {
					require.Empty(t, r.Calls(id))
					return
				}
				call := r.Await(t, id, 1)[0]
				require.False(t, call.At.Before(reply.Timer().DueAt))
				require.Equal(t, "2", call.Header.Get("Wakecall-Revision"))
				if c.body["payload"] != nil {
					require.JSONEq(t, `{"n":2}`, string(call.Body))
				}
				h.Await(kind+"/"+id, "delivered")
				require.Len(t, r.Calls(id), 1)
			})
		}
	}
}

// handingBack is how many timers a worker has preloaded that stops.
const handingBack = 50

// A worker that stops hands what it has preloaded to another one, which rings it once, and does not wait for a
// task that times out. A starved Temporal loses tasks, and is given more time.
func TestHandedBack(t *testing.T) { // it needs the machine for itself
	testenv.Steadily(t, func(t testing.TB) {
		for way := range preloaders {
			handed := 0
			for lead := 14 * time.Second; handed <= handingBack*3/4 && lead < time.Minute; lead *= 2 {
				handed = handBack(t, way, lead)
			}
			require.Greater(t, handed, handingBack*3/4, "%s: most tasks did not time out", way)
		}
	})
}

// handBack books timers and stops the worker that has preloaded them. It returns how many rang without a task
// that timed out: none if they were due before all were preloaded.
func handBack(t testing.TB, way string, lead time.Duration) (handed int) {
	t.Helper()
	preloader := preloaders[way]
	leaves, addr := preloader.open(t)
	stays := testenv.Open(t, addr)
	r, kind := receiver.New(t), sample.Type(t)
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL}}
	maps.Copy(policy, preloader.policy)
	leaves.Policy(kind, policy)
	due := time.Now().Add(lead)
	leaves.AddMany(kind, handingBack, lead)
	preloaded := func() bool { return metric(t, leaves, "wakecall_preloaded_timers") > handingBack*preloader.most }
	require.Eventually(t, func() bool { return preloaded() || time.Now().After(due) }, testenv.Patience, testenv.Interval, "%s: they are preloaded soon", way)
	if time.Now().After(due) {
		return 0
	}
	stays.StartWorker()
	leaves.StopWorker()
	if time.Now().Before(due) {
		require.Greater(t, metric(t, leaves, `wakecall_released_total{reason="handed_back"}`), handingBack*preloader.most, way)
	}
	r.AwaitAll(t, handingBack)
	for n := range handingBack {
		path := kind + "/" + strconv.Itoa(n)
		require.Equal(t, 1, stays.Await(path, "delivered").Attempts)
		if !slices.Contains(stays.Events(path, ""), enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT) {
			handed++
		}
	}
	require.Len(t, r.All(), handingBack)
	return handed
}

// Temporal's own tools are seen as well, long before the ring.
func TestEndedWhileEagerlyStarted(t *testing.T) { // it needs the machine for itself
	testenv.Steadily(t, func(t testing.TB) {
		h, addr := eagerEnv(t)
		r, kind := receiver.New(t), sample.Type(t)
		var due time.Time
		id := func(ending string) string { return strings.ReplaceAll(ending, " ", "-") }
		for name := range process.Endings {
			due = h.Add(sample.Booking(kind, id(name), "55s", r.URL)).DueAt
			require.True(t, h.WithWorker(kind+"/"+id(name)))
		}
		for name, end := range process.Endings {
			process.Execute(t, end.Program(t), "--address", addr, "workflow", end.Verb, "-w", kind+"/"+id(name))
		}
		h.Add(sample.Booking(kind, "rings", "1s", r.URL)) // all of them came before it
		r.Await(t, "rings", 1)
		h.Await(kind+"/rings", "delivered")
		for name := range process.Endings {
			h.Await(kind+"/"+id(name), "cancelled")
		}
		require.True(t, time.Now().Before(due.Add(-2*tuning.EarlyRecheck)), "its worker asks now and then")
		require.Len(t, r.All(), 1)
	})
}

// A worker that stops, with nobody to take over, leaves what came of an attempt whose end
// collided with a change: whoever starts next does not call again.
func TestTheOnlyWorkerLeavesItsReceipts(t *testing.T) {
	t.Parallel()
	leftReceipt(t, sample.Type(t))
}

// leftReceipt is where a timer, of id 1, was delivered by a worker that was stopped, and
// ended by the one after it.
func leftReceipt(t testing.TB, kind string) *testenv.Env {
	t.Helper()
	leaves, addr := eagerEnv(t)
	comes, r := testenv.Open(t, addr), receiver.New(t)
	answers := make(chan int)
	booking := sample.Booking(kind, "1", "1ms", r.URL)
	booking["callback"] = testenv.JSON{"url": r.On("/", receiver.AnsweredBy(answers)), "timeout": "1m"} // the attempt lasts until it is answered
	leaves.Add(booking)
	r.Await(t, "1", 1)
	replies := make(chan testenv.Reply, 1)
	go func() { replies <- leaves.Do("PATCH", "/v1/timers/"+kind+"/1?wait=30s", testenv.JSON{"delay": "1h"}) }()
	awaitMarks(t, leaves, kind+"/1", 1)
	leaves.Add(sample.Booking(kind, "held", "55s", r.URL))
	require.Positive(t, metric(t, leaves, "wakecall_preloaded_timers"))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		leaves.StopWorker()
	}()
	require.Eventually(t, func() bool { return metric(t, leaves, "wakecall_preloaded_timers") == 0 }, testenv.Patience, testenv.Interval,
		"it polls no more, and releases what it has preloaded")
	answers <- http.StatusOK
	<-stopped
	comes.StartWorker()
	require.Equal(t, http.StatusConflict, (<-replies).Status)
	comes.Await(kind+"/1", "delivered")
	require.Len(t, r.All(), 1)
	return comes
}

// A client that goes away while it books takes no task with it.
func TestNobodyHearsTheEagerStart(t *testing.T) {
	t.Parallel()
	addr := testenv.Alone(t)
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
	_, err := (&http.Client{Timeout: testenv.Patience}).Do(request.WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	r.Await(t, "1", 1)
	h.Await(kind+"/1", "delivered")
	transitions, _ := cost(t, h, kind+"/1")
	require.Equal(t, int64(2), transitions, "its task did not have to time out")
}

// Temporal's store takes too long to write a booking, and the end of a task, whether it
// writes them all the same or not. Neither is lost, and the receiver is called once, in time.
func TestTheStoreTakesTooLong(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]bool{"and writes it": true, "and does not write it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := testenv.Alone(t)
			s := slowStore{written: written}
			h := testenv.OpenThrough(t, addr, testenv.Settings(), s.intercept)
			h.StartWorkerBeside()
			r, kind := receiver.New(t), sample.Type(t)
			s.slow.Store(true)
			h.Add(sample.Booking(kind, "1", "1s", r.URL))
			r.Await(t, "1", 1)
			h.Await(kind+"/1", "delivered")
			require.Len(t, r.Calls("1"), 1)
			require.EqualValues(t, 1, s.starts.Load(), "the fault is real")
			require.EqualValues(t, 1, s.ends.Load())
			transitions, _ := cost(t, h, kind+"/1")
			require.EqualValues(t, 2, transitions, "its task did not have to time out")
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
	booked := h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "10s"})
	first.Kill()
	h.Start()
	call := r.Await(t, "1", 1)[0]
	require.False(t, call.At.Before(booked.DueAt))
	t.Logf("%s late", call.At.Sub(booked.DueAt).Round(time.Millisecond))
	h.Await(kind+"/1", "delivered")
	require.Len(t, r.Calls("1"), 1)
}

// tooLate is a due time that no test waits for, and a timer of this preload may
// be held for that long.
const tooLate = "30s"

// bookHeld books timers until a worker holds one of them, for many seconds yet.
func bookHeld(t testing.TB, env *testenv.Env, kind, url string) (id string) {
	t.Helper()
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url}, "preload": "1m"})
	for n := range 20 {
		id = "held-" + strconv.Itoa(n)
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": tooLate, "payload": testenv.JSON{"n": 1}})
		if wakesNow(t, env, kind+"/"+id) {
			awaitHeld(t, env, kind+"/"+id)
			return id
		}
		require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/"+id, nil).Status)
	}
	t.Fatal("wake-ups should be spread over the preload")
	return ""
}

// wakesNow is whether a timer began without a start delay.
func wakesNow(t testing.TB, env *testenv.Env, path string) bool {
	described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
	require.NoError(t, err)
	info := described.GetWorkflowExecutionInfo()
	return info.GetExecutionTime().AsTime().Sub(info.GetStartTime().AsTime()) < 100*time.Millisecond
}

func awaitHeld(t testing.TB, env *testenv.Env, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), path, "")
		return err == nil && described.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
	}, testenv.Patience, testenv.Interval, "a worker should hold %s", path)
}

// metric is the value of one time series, 0 where there is none.
func metric(t testing.TB, env *testenv.Env, series string) (value float64) {
	t.Helper()
	for line := range strings.Lines(string(env.Do("GET", "/metrics", nil).Body)) {
		if text, ok := strings.CutPrefix(line, series+" "); ok {
			var err error
			value, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
			require.NoError(t, err)
		}
	}
	return value
}
