package operations

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// gateways are two that trust a policy for long enough to book by one that is gone.
func gateways(t *testing.T) (a, b *testenv.Env, kind string) {
	t.Helper()
	settings := testenv.Settings()
	settings.PolicyTTL = 2 * time.Second
	a, b, kind = testenv.OpenWith(t, testenv.Addr, settings), testenv.OpenWith(t, testenv.Addr, settings), sample.Type(t)
	a.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": receiver.New(t).URL}})
	return a, b, kind
}

func tomorrow(kind string, n int) testenv.JSON {
	return testenv.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "24h"}
}

// Visibility knows nothing yet of a booking that was acknowledged a moment ago.
func TestAPolicyStaysWhereATimerWasJustBooked(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	for n := range 3 {
		b.Add(tomorrow(kind, n))
		reply := a.Do("DELETE", "/v1/policies/"+kind, nil)
		require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
		require.Contains(t, reply.Problem().Detail, "open timers")
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusCreated, b.Do("POST", "/v1/timers", tomorrow(kind, 3)).Status)
	}, testenv.Patience, 100*time.Millisecond, "the policy takes bookings again")
}

// A gateway books by the policy that it knows while another one deletes it.
func TestAPolicyStaysWhereATimerIsBookedMeanwhile(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	b.Add(tomorrow(kind, 0))
	require.Equal(t, http.StatusOK, b.Do("DELETE", "/v1/timers/"+kind+"/0", nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Empty(c, testenv.Listed(b, url.Values{"business_type": {kind}, "status": {"scheduled"}}))
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	deleted := make(chan testenv.Reply, 1)
	go func() { deleted <- a.Do("DELETE", "/v1/policies/"+kind, nil) }()
	booked, refused := 0, 0
	for n := 1; ; n++ {
		select {
		case reply := <-deleted:
			require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
			require.Positive(t, booked)
			t.Logf("%d booked, %d refused", booked, refused)
			return
		case <-time.After(50 * time.Millisecond):
		}
		switch reply := b.Do("POST", "/v1/timers", tomorrow(kind, n)); reply.Status {
		case http.StatusCreated:
			booked++
		default:
			require.Equal(t, http.StatusServiceUnavailable, reply.Status, "%s", reply.Body)
			refused++
		}
	}
}

// The URL of a policy is as much as the policy to a timer that has none of its own.
func TestAPolicyKeepsItsURLWhereATimerWasJustBooked(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	b.Add(tomorrow(kind, 1))
	reply := a.Do("PATCH", "/v1/policies/"+kind, testenv.JSON{"callback": nil})
	require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
	require.Equal(t, http.StatusOK, b.Do("DELETE", "/v1/timers/"+kind+"/1", nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusOK, a.Do("PATCH", "/v1/policies/"+kind, testenv.JSON{"callback": nil}).Status)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
}

func TestTimersOfTheLastMomentAreCancelledWithTheirPolicy(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	for n := range 3 {
		b.Add(tomorrow(kind, n))
	}
	require.Equal(t, http.StatusNoContent, a.Do("DELETE", "/v1/policies/"+kind+"?timers=cancel", nil).Status)
	b.AwaitAll(kind, 3, "cancelled")
}

// Once its timers are being cancelled nobody keeps the policy by a change, and a deletion
// that is refused has cancelled none.
func TestAPolicyIsNotChangedWhileItsTimersAreCancelled(t *testing.T) {
	t.Parallel()
	_, b, kind := gateways(t)
	b.Add(tomorrow(kind, 0))
	put := testenv.JSON{"callback": testenv.JSON{"url": receiver.New(t).URL}, "priority": 2}
	var met, deleted atomic.Int64
	a := testenv.OpenThrough(t, testenv.Addr, testenv.Settings(), func(
		ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		if start, ok := request.(*workflowservice.StartWorkflowExecutionRequest); ok && start.GetWorkflowType().GetName() == workflows.TypeBulk {
			met.Store(int64(b.Do("PUT", "/v1/policies/"+kind, put).Status))
			deleted.Store(int64(b.Do("DELETE", "/v1/policies/"+kind+"?timers=cancel", nil).Status))
		}
		return invoke(ctx, method, request, reply, conn, options...)
	})
	require.Equal(t, http.StatusNoContent, a.Do("DELETE", "/v1/policies/"+kind+"?timers=cancel", nil).Status)
	require.Equal(t, int64(http.StatusServiceUnavailable), met.Load())
	require.Equal(t, int64(http.StatusServiceUnavailable), deleted.Load(), "somebody deletes it already")
	b.AwaitAll(kind, 1, "cancelled")
	require.Equal(t, http.StatusCreated, b.Do("PUT", "/v1/policies/"+kind, put).Status)
}

// While a policy is deleted a gateway that knows of it books nothing, and afterwards
// there is none.
func TestAPolicyThatIsDeletedTakesNoBookings(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	deleted := make(chan testenv.Reply, 1)
	go func() { deleted <- a.Do("DELETE", "/v1/policies/"+kind, nil) }()
	require.Eventually(t, func() bool {
		policy, err := a.Engine.Policies.Stored(t.Context(), kind)
		return err == nil && policy.ClosedUntil != 0
	}, testenv.Patience, 10*time.Millisecond, "it is closed")
	require.Equal(t, http.StatusServiceUnavailable, b.Do("POST", "/v1/timers", tomorrow(kind, 1)).Status)
	require.Equal(t, http.StatusServiceUnavailable, b.Do("PUT", "/v1/timers/"+kind+"/1", testenv.JSON{"delay": "24h"}).Status)
	require.Equal(t, http.StatusNoContent, (<-deleted).Status)
	for _, gateway := range []*testenv.Env{a, b} {
		require.NotEqual(t, http.StatusCreated, gateway.Do("POST", "/v1/timers", tomorrow(kind, 2)).Status)
	}
	require.Equal(t, http.StatusNotFound, a.Do("GET", "/v1/timers/"+kind+"/1", nil).Status, "nothing was booked")
}

// A redelivery that was begun before its policy was deleted, and comes to Temporal
// afterwards, leaves no open timer behind.
func TestARedeliveryIsUndoneWhosePolicyIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, undo := range map[string]bool{"without a policy any more": true, "with one that stays": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := sample.Type(t)
			a, r := testenv.OpenWith(t, testenv.Addr, testenv.Settings()), receiver.New(t)
			began, goOn := make(chan struct{}, 1), make(chan struct{})
			b := testenv.OpenThrough(t, testenv.Addr, testenv.Settings(), delayed(kind+"/0", began, goOn))
			a.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/", receiver.Status(http.StatusGone))}})
			a.Add(testenv.JSON{"business_type": kind, "business_id": "0", "delay": "0s"})
			a.AwaitAll(kind, 1, "failed")
			redelivered := make(chan testenv.Reply, 1)
			go func() { redelivered <- b.Do("POST", "/v1/timers/"+kind+"/0/redeliver", nil) }()
			<-began
			if undo {
				require.Equal(t, http.StatusNoContent, a.Do("DELETE", "/v1/policies/"+kind, nil).Status)
			}
			close(goOn)
			reply := <-redelivered
			if !undo {
				require.Less(t, reply.Status, 300, "%s", reply.Body)
				return
			}
			require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
			require.Equal(t, "cancelled", reply.Problem().Timer.Status)
			require.Equal(t, "cancelled", a.Get(kind+"/0").Status, "no timer is open without its policy")
		})
	}
}

// Without a policy a timer that has no receiver of its own stays failed, one by one and
// of many: it would wait for a policy that may never come.
func TestNothingIsRedeliveredThatNobodyIsCalledFor(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url := r.On("/", receiver.Status(http.StatusGone))
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url}})
	failMany(t, env, kind, 2)
	env.Add(sample.Booking(kind, "own", "0s", url))
	env.Await(kind+"/own", "failed")
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind, nil).Status)
	reply := env.Do("POST", "/v1/timers/"+kind+"/0/redeliver", nil)
	require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s", reply.Body)
	require.Equal(t, "/callback/url", reply.Problem().Errors[0].Pointer)
	end := redelivered(t, env, kind)
	want := bulkCounts(3, 1, 0)
	want.Failed = 2
	require.Equal(t, want, end.Tally, "the one with a receiver of its own is redelivered")
	for _, id := range []string{"0", "1"} {
		require.Equal(t, "failed", env.Get(kind+"/"+id).Status)
	}
}

// delayed holds the start of one workflow up: it says so, and waits.
func delayed(workflowID string, began chan<- struct{}, goOn <-chan struct{}) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		if start, ok := in.(*workflowservice.StartWorkflowExecutionRequest); ok && start.GetWorkflowId() == workflowID {
			select {
			case began <- struct{}{}:
			default: // the SDK tries again what takes long
			}
			<-goOn
		}
		return invoke(context.WithoutCancel(ctx), method, in, out, conn, o...)
	}
}

// A PUT that may have made a timer is acknowledged only once it is known under which
// policy: the timer would be left behind where that is deleted.
func TestAPutIsNotAcknowledgedBeforeItsPolicyIsKnownToHold(t *testing.T) {
	t.Parallel()
	kind := sample.Type(t)
	var deaf atomic.Bool
	h := testenv.OpenThrough(t, testenv.Addr, testenv.Settings(), func(
		ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption,
	) error {
		asked, ok := in.(*workflowservice.DescribeWorkflowExecutionRequest)
		if ok && asked.GetExecution().GetWorkflowId() == kind+"/1" && deaf.CompareAndSwap(true, false) {
			return grpcstatus.Error(codes.PermissionDenied, "nobody tells") // the SDK does not try that again
		}
		return invoke(ctx, method, in, out, conn, o...)
	})
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": receiver.New(t).URL}})
	deaf.Store(true)
	reply := h.Do("PUT", "/v1/timers/"+kind+"/1?wait=0s", testenv.JSON{"delay": "24h"})
	require.Equal(t, http.StatusServiceUnavailable, reply.Status, "%s", reply.Body)
	require.Equal(t, http.StatusOK, h.Do("PUT", "/v1/timers/"+kind+"/1", testenv.JSON{"delay": "24h"}).Status, "it is repeated")
}

func TestAPolicyIsDeletedAtTheVersionThatIsNamed(t *testing.T) {
	t.Parallel()
	h, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind
	put := func(priority int) string {
		reply := h.Do("PUT", path, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "priority": priority})
		require.Less(t, reply.Status, 300, "%s", reply.Body)
		return reply.Header.Get("ETag")
	}
	del := func(query, tag string) int {
		return testenv.SendIf(h, tag, h.Request("DELETE", path+query, nil)).Status
	}
	require.Equal(t, http.StatusNotFound, del("", "*"), "there is none")
	first := put(1)
	second := put(2)
	for _, query := range []string{"", "?timers=cancel", "?timers=keep"} {
		require.Equal(t, http.StatusPreconditionFailed, del(query, first), query)
		require.Equal(t, http.StatusUnprocessableEntity, del(query, "W/"+second), query)
	}
	require.Equal(t, http.StatusNoContent, del("?timers=keep", second))
	require.Equal(t, http.StatusNotFound, del("?timers=keep", second))

	third := put(3)
	deleted := make(chan int, 1)
	go func() { deleted <- del("", third) }()
	require.Eventually(t, func() bool {
		policy, err := h.Engine.Policies.Stored(t.Context(), kind)
		return err == nil && policy.ClosedUntil != 0
	}, testenv.Patience, 10*time.Millisecond, "it is closed")
	fourth := put(4)
	require.Equal(t, http.StatusPreconditionFailed, <-deleted, "it has changed meanwhile")
	h.Add(testenv.JSON{"business_type": kind, "business_id": "0", "delay": "24h"})
	require.Equal(t, http.StatusNoContent, del("?timers=cancel", fourth))
	h.AwaitAll(kind, 1, "cancelled")
}
