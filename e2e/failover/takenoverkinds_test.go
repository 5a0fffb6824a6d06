package failover

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// oneOfAKind is a timer of a type of its own that another worker takes over.
type oneOfAKind struct {
	takenOver

	t testing.TB
	// receives is a receiver that is connected, and messages its queue of a broker, where the type has one.
	receives *receiver.Listener
	messages receiver.Queue
}

// calls are the calls about it.
func (o *oneOfAKind) calls() []receiver.Call { return o.receiver.Calls(o.kind) }

// delivers waits until it is delivered, by one call.
func (o *oneOfAKind) delivers() {
	o.Await(o.kind+"/"+o.kind, "delivered")
	require.Len(o.t, o.calls(), 1, o.kind)
}

// kindOfTimer is a kind of timers: their policy, what their bookings have beside the common fields, what
// happens once another worker has them, and what must become of them.
type kindOfTimer struct {
	policy, books testenv.JSON
	meanwhile     func(*oneOfAKind)
	check         func(*oneOfAKind)
}

// kinds are the kinds of timers whose ways differ once they are due.
var kinds = map[string]kindOfTimer{
	"in-flight limit": {
		policy: testenv.JSON{"limits": testenv.JSON{"in_flight": 1}},
		check:  (*oneOfAKind).delivers,
	},
	"limited since": {
		meanwhile: func(o *oneOfAKind) {
			o.Policy(o.kind, testenv.JSON{"callback": testenv.JSON{"url": o.receiver.URL}, "limits": testenv.JSON{"callbacks_per_second": 50}})
		},
		check: (*oneOfAKind).delivers,
	},
	"another receiver since": {
		meanwhile: func(o *oneOfAKind) {
			o.Policy(o.kind, testenv.JSON{"callback": testenv.JSON{"url": o.receiver.URL + "/moved"}})
		},
		check: func(o *oneOfAKind) {
			o.delivers()
			require.Equal(o.t, "/moved", o.calls()[0].Path)
		},
	},
	"labelled": {
		books: testenv.JSON{"labels": testenv.JSON{"customer": "7"}},
		check: func(o *oneOfAKind) {
			o.delivers()
			var shown struct{ Labels map[string]string }
			o.Do("GET", "/v1/timers/"+o.kind+"/"+o.kind, nil).Into(&shown)
			require.Equal(o.t, map[string]string{"customer": "7"}, shown.Labels)
		},
	},
	"accepted": {
		policy: testenv.JSON{"ack": testenv.JSON{"within": "10m"}},
		meanwhile: func(o *oneOfAKind) {
			o.Policy(o.kind, testenv.JSON{
				"callback": testenv.JSON{"url": o.receiver.On("/accepted", receiver.Status(http.StatusAccepted))}, "ack": testenv.JSON{"within": "10m"},
			})
		},
		check: func(o *oneOfAKind) {
			call := o.receiver.Await(o.t, o.kind, 1)[0]
			_, _, err := o.Wakecall().Deliveries.Ack(o.t.Context(), client.DeliveryOf(call.Header), testenv.Patient)
			require.NoError(o.t, err)
			o.delivers()
		},
	},
	"connected receiver": {
		policy: testenv.JSON{"callback": testenv.JSON{"stream": true}},
		check: func(o *oneOfAKind) {
			require.Equal(o.t, 1, o.Await(o.kind+"/"+o.kind, "delivered").Attempts)
			require.Empty(o.t, o.receives.Rings)
		},
	},
	"second link": {
		meanwhile: func(o *oneOfAKind) {
			o.Policy(o.kind, testenv.JSON{
				"callback": testenv.JSON{"url": o.receiver.On("/first", receiver.Status(http.StatusServiceUnavailable))},
				"fallback": testenv.JSON{"url": o.receiver.URL + "/second", "after": "1s"}, "retry": testenv.JSON{"steps": []string{"1h"}},
			})
		},
		check: func(o *oneOfAKind) {
			delivered := o.Await(o.kind+"/"+o.kind, "delivered")
			require.Equal(o.t, "fallback", delivered.Link)
			requireGoneOver(o.t, o.calls(), delivered.WebhookID)
		},
	},
	"told": {
		check: func(o *oneOfAKind) {
			o.delivers()
			require.Len(o.t, o.receiver.AwaitTo(o.t, "/told", 1), 1)
		},
	},
	"paused by an operator": {
		meanwhile: func(o *oneOfAKind) { o.emergency("pause") },
		check: func(o *oneOfAKind) {
			require.Equal(o.t, "delivering", o.Await(o.kind+"/"+o.kind, "delivering").Status, "it is due, and waits")
			require.Empty(o.t, o.calls())
			o.emergency("resume")
			o.delivers()
		},
	},
}

func (o *oneOfAKind) emergency(call string) {
	reply := o.Do("POST", "/v1/emergency/"+call, testenv.JSON{"business_types": []string{o.kind}, "note": "a test"})
	require.Equal(o.t, http.StatusOK, reply.Status, "%s", reply.Body)
}

// requireGoneOver requires that the first attempts went to the first link and the last one to the second, which
// is at /second. A worker tests the first link once more before it goes over.
func requireGoneOver(t testing.TB, calls []receiver.Call, webhookID string) {
	t.Helper()
	require.GreaterOrEqual(t, len(calls), 2)
	for n, call := range calls {
		require.Equal(t, n == len(calls)-1, call.Path == "/second", n)
		require.Equal(t, []string{webhookID, strconv.Itoa(n + 1)}, []string{call.Header.Get("webhook-id"), call.Header.Get("Wakecall-Attempt")})
	}
}

// A timer of each kind rings at the worker that has taken it over as it would have at the one that died.
func TestKindsOfTimersThatAreTakenOver(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		takenOverAlike{testenv.Settings(), kinds, func(o *oneOfAKind, name string) {
			if name == "connected receiver" {
				o.receives = receiver.Listen(t, o.URL, o.kind)
				go o.receives.AckNext() // the other kinds are checked meanwhile, which may take minutes
			}
		}}.check(t)
	})
}

// The same holds for a timer that is a message.
func TestAMessageThatIsTakenOver(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		broker, settings := rabbit.Start(t), testenv.Settings()
		settings.Brokers = rabbit.BrokersFile(t, broker.URL)
		message := kindOfTimer{
			policy: testenv.JSON{"callback": testenv.JSON{"broker": "main"}},
			check: func(o *oneOfAKind) {
				message := o.messages.Next()
				require.Equal(o.t, []any{"1", o.kind}, []any{message.Headers["Wakecall-Attempt"], message.Headers["Wakecall-Business-Id"]})
				require.Equal(o.t, message.MessageId, o.Await(o.kind+"/"+o.kind, "delivered").WebhookID)
				_, another, err := o.messages.Get(o.messages.Name, true)
				require.NoError(o.t, err)
				require.False(o.t, another)
			},
		}
		takenOverAlike{settings, map[string]kindOfTimer{"message": message}, func(o *oneOfAKind, _ string) {
			o.messages = receiver.NewQueue(t, broker.URL, o.kind)
		}}.check(t)
	})
}

// takenOverAlike are kinds of timers whose workers have the same settings. ready makes the receiver of one ready.
type takenOverAlike struct {
	settings config.Config
	kinds    map[string]kindOfTimer
	ready    func(o *oneOfAKind, name string)
}

// check takes over a timer of each kind, once more where it was due before something had happened to it.
func (a takenOverAlike) check(t testing.TB) {
	t.Helper()
	left := slices.Collect(maps.Keys(a.kinds))
	for range rounds {
		if left = a.takeOver(t, left); len(left) == 0 {
			return
		}
	}
	require.Empty(t, left, "what happens once another worker has them should come before they are due")
}

// takeOver books a timer of each of these kinds at a worker that dies, and checks each once another one has taken
// it over. It returns those that were due before something had happened to them.
func (a takenOverAlike) takeOver(t testing.TB, names []string) (late []string) {
	t.Helper()
	addr := testenv.Alone(t)
	dead, die := startDyingWith(t, addr, a.settings)
	env, r := testenv.OpenWith(t, addr, a.settings), receiver.New(t)
	timers := map[string]*oneOfAKind{}
	for _, name := range names {
		timers[name] = a.prepare(t, takenOver{env, r, sample.Type(t), map[string]string{}, map[string]time.Time{}}, name)
	}
	for name, o := range timers {
		a.book(o, dead, name)
	}
	die()
	env.StartWorker()
	for name, o := range timers {
		o.awaitTaken(t, o.kind)
		if meanwhile := a.kinds[name].meanwhile; meanwhile != nil {
			meanwhile(o)
			if o.isDue(o.kind) {
				late = append(late, name)
				delete(timers, name)
			}
		}
	}
	for name, o := range timers {
		t.Log("checks", name)
		a.kinds[name].check(o)
	}
	return late
}

// prepare puts the policy of a kind, and makes its receiver ready.
func (a takenOverAlike) prepare(t testing.TB, o takenOver, name string) *oneOfAKind {
	t.Helper()
	one := &oneOfAKind{takenOver: o, t: t}
	policy := testenv.JSON{"callback": testenv.JSON{"url": o.receiver.URL}, "preload": "1m"}
	maps.Copy(policy, a.kinds[name].policy)
	o.Policy(o.kind, policy)
	a.ready(one, name)
	return one
}

// book books the timer of a kind, and waits until the worker that dies has it.
func (a takenOverAlike) book(o *oneOfAKind, dead *testenv.Env, name string) {
	o.t.Helper()
	booking := testenv.JSON{"business_type": o.kind, "business_id": o.kind, "delay": beforeDue.String()}
	maps.Copy(booking, a.kinds[name].books)
	if name == "told" {
		booking["on_delivered"] = testenv.JSON{"url": o.receiver.URL + "/told"}
	}
	booked := dead.Add(booking)
	o.runs[o.kind], o.due[o.kind] = booked.RunID, booked.DueAt
	require.Eventually(o.t, func() bool { return o.WithWorker(o.kind + "/" + o.kind) }, testenv.Patience, testenv.Interval, name)
}

// deaf is a connection that loses the first answers by which tasks are taken over. Temporal has recorded the
// exchanges.
type deaf struct {
	mu   sync.Mutex
	most int
	lost map[string]bool // by task token
}

//nolint:revive // gRPC's own arguments
func (d *deaf) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	exchange, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest)
	if err != nil || !ok || !exchange.GetForceCreateNewWorkflowTask() || !d.loses(string(exchange.GetTaskToken())) {
		return err
	}
	reply.(*workflowservice.RespondWorkflowTaskCompletedResponse).Reset()
	return grpcstatus.Error(codes.Unavailable, "the connection broke")
}

func (d *deaf) loses(task string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost[task] || len(d.lost) >= d.most {
		return false
	}
	d.lost[task] = true
	return true
}

// Where the answer to a takeover is lost, no worker has the task that Temporal handed out in it. It is
// found, and rings once. Its timeout would come two minutes later.
func TestTheAnswerToATakeoverIsLost(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		const timers = 5
		addr := testenv.Alone(t)
		dead, die := startDying(t, addr)
		lossy := deaf{most: timers, lost: map[string]bool{}}
		env, r, kind := testenv.OpenThrough(t, addr, testenv.Settings(), lossy.intercept), receiver.New(t), sample.Type(t)
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "preload": "1m"})
		for n := range timers {
			dead.Add(sample.Booking(kind, strconv.Itoa(n), beforeDue.String(), r.URL))
		}
		for n := range timers {
			require.Eventually(t, func() bool { return env.WithWorker(kind + "/" + strconv.Itoa(n)) }, testenv.Patience, testenv.Interval, n)
		}
		die()
		env.StartWorker()
		env.AwaitAll(kind, timers, "delivered")
		for n := range timers {
			require.Len(t, r.Calls(strconv.Itoa(n)), 1)
		}
		lossy.mu.Lock()
		defer lossy.mu.Unlock()
		require.Len(t, lossy.lost, timers)
	})
}
