package timers

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// tardy is the connection of a gateway that has met an ended timer, and takes its time to book the id anew.
type tardy struct {
	once          sync.Once
	booking, goOn chan struct{}
}

//nolint:revive // gRPC's own arguments
func (d *tardy) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	start, ok := request.(*workflowservice.StartWorkflowExecutionRequest)
	if ok && start.GetWorkflowType().GetName() == workflows.TypeTimer && start.GetWorkflowIdReusePolicy() != enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE {
		d.once.Do(func() {
			close(d.booking)
			<-d.goOn
		})
	}
	return invoke(ctx, method, request, reply, conn, options...)
}

// keyed books a timer under an idempotency key.
func keyed(env *testenv.Env, booking testenv.JSON) testenv.Reply {
	request := env.Request("POST", "/v1/timers", booking)
	request.Header.Set("Idempotency-Key", "k")
	return env.Send(request)
}

// Two gateways book an id anew under one key, and the booking of the first has rung and ended before that
// of the second begins. The key names one booking all the same, and one ring.
func TestOneKeyAtTwoGateways(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		addr, r, kind := testenv.Alone(t), receiver.New(t), sample.Type(t)
		second := &tardy{booking: make(chan struct{}), goOn: make(chan struct{})}
		slow, env := testenv.OpenThrough(t, addr, testenv.Settings(), second.intercept), testenv.Open(t, addr)
		env.StartWorker()
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "reuse": "after_end"})
		booking := testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"}
		before := env.Add(booking)
		env.Await(kind+"/1", "delivered")

		late := make(chan testenv.Reply, 1)
		go func() { late <- keyed(slow, booking) }()
		<-second.booking
		first := keyed(env, booking)
		require.Equal(t, http.StatusCreated, first.Status, "%s", first.Body)
		require.NotEqual(t, before.WebhookID, first.Timer().WebhookID)
		env.Await(kind+"/1", "delivered")
		close(second.goOn)
		reply := <-late
		require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
		require.Equal(t, first.Timer().WebhookID, reply.Timer().WebhookID)
		require.Len(t, r.Calls("1"), 2, "of the timer before, and of this one")
	})
}
