package deliveries

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// slowSettings is a connection on which Temporal does not tell whether a type is paused, once it is
// armed, until it is released.
type slowSettings struct {
	workflow        string
	armed           atomic.Bool
	asked, released chan struct{}
	once            sync.Once
}

func newSlowSettings(kind string) *slowSettings {
	return &slowSettings{workflow: workflows.EmergencyID(kind), asked: make(chan struct{}), released: make(chan struct{})}
}

//nolint:revive // gRPC's own arguments
func (s *slowSettings) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	describe, ok := request.(*workflowservice.DescribeWorkflowExecutionRequest)
	if ok && s.armed.Load() && describe.GetExecution().GetWorkflowId() == s.workflow {
		s.once.Do(func() { close(s.asked) })
		select {
		case <-s.released:
		case <-ctx.Done():
		}
	}
	return invoke(ctx, method, request, reply, conn, options...)
}

// awaitAsked waits until the worker is asking.
func (s *slowSettings) awaitAsked(t *testing.T) {
	t.Helper()
	select {
	case <-s.asked:
	case <-time.After(testenv.Patience):
		t.Fatal("the worker does not ask whether the type is paused")
	}
}

// A change that is accepted while a worker waits for the settings of an attempt precedes that attempt. The worker
// has asked before whether the timer is still wanted, and asks again.
func TestAChangeIsAcceptedWhileTheSettingsAreRead(t *testing.T) {
	for id, attempts := range map[string]int{"first": 1, "on-the-queue": 2} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			addr, kind, r := testenv.Alone(t), sample.Type(t), receiver.New(t)
			slow := newSlowSettings(kind)
			env, working := testenv.Open(t, addr), testenv.OpenThrough(t, addr, testenv.Settings(), slow.intercept)
			url := r.On("/failing", receiver.FailFirst(attempts-1))
			env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url}, "retry": testenv.JSON{"steps": []string{"3s"}}})
			slow.armed.Store(attempts == 1)
			working.StartWorker()
			env.Add(sample.Booking(kind, id, "10ms", url))
			if attempts == 2 { // what was learned for the first one is forgotten before the second
				r.Await(t, id, 1)
				slow.armed.Store(true)
			}
			slow.awaitAsked(t)
			reply := env.Do("PATCH", "/v1/timers/"+kind+"/"+id+"?wait=2s", testenv.JSON{"payload": testenv.JSON{"n": 2}})
			require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, reply.Status, "%s", reply.Body)
			close(slow.released)
			env.Await(kind+"/"+id, "delivered")
			calls := r.Calls(id)
			require.Len(t, calls, attempts)
			require.JSONEq(t, `{"n":2}`, string(calls[attempts-1].Body))
			require.Equal(t, "2", calls[attempts-1].Header.Get("Wakecall-Revision"))
		})
	}
}
