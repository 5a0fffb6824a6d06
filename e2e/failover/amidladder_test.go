package failover

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// A worker dies amid the ladder of a timer. Another one goes on where it was: with the next number, under
// the same id, and by the link whose turn it is. An attempt that was under way is made again under its
// number.
func TestAWorkerDiesAmidTheLadder(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		const wait = "20s" // until then the worker is dead, also on a busy machine
		addr := testenv.Alone(t)
		var connection cut
		dead, env, r := testenv.OpenThrough(t, addr, testenv.Settings(), connection.intercept), testenv.Open(t, addr), receiver.New(t)
		dead.StartWorkerBeside()
		goOn := make(chan struct{})
		defer close(goOn)
		busy := receiver.Status(http.StatusServiceUnavailable)
		ladders := map[string]struct {
			policy  testenv.JSON
			answer  receiver.Answer
			before  int      // the calls of the worker that dies
			numbers []string // of all attempts, where there is one link
		}{
			"waits for a retry": {
				testenv.JSON{"retry": testenv.JSON{"steps": []string{wait}}}, receiver.FailFirst(1), 1, []string{"1", "2"},
			},
			"waits for the second link": {
				testenv.JSON{"retry": testenv.JSON{"steps": []string{"1h"}}, "fallback": testenv.JSON{"url": r.URL + "/second", "after": wait}},
				busy, 1, nil,
			},
			"under way": {
				testenv.JSON{"retry": testenv.JSON{"steps": []string{"10ms"}}},
				func(w http.ResponseWriter, _ *http.Request, n int) {
					switch n {
					case 1:
						w.WriteHeader(http.StatusServiceUnavailable)
					case 2:
						<-goOn
					}
				},
				2, []string{"1", "2", "2"},
			},
		}
		types := map[string]string{}
		for name, ladder := range ladders {
			kind := sample.Type(t)
			types[name] = kind
			ladder.policy["callback"] = testenv.JSON{"url": r.On("/"+kind, ladder.answer)}
			env.Policy(kind, ladder.policy)
			dead.Add(testenv.JSON{"business_type": kind, "business_id": kind, "delay": "0s"})
		}
		for name, ladder := range ladders {
			r.Await(t, types[name], ladder.before)
			require.Eventually(t, func() bool { return env.Get(types[name]+"/"+types[name]).Attempts >= 1 }, testenv.Patience, testenv.Interval, name)
		}
		t.Cleanup(connection.begin())
		for name, ladder := range ladders {
			require.Len(t, r.Calls(types[name]), ladder.before, "%s: the worker that dies makes no further one", name)
		}
		env.StartWorker()
		for name, ladder := range ladders {
			delivered := env.Await(types[name]+"/"+types[name], "delivered")
			calls := r.Calls(types[name])
			if ladder.numbers == nil {
				require.Equal(t, "fallback", delivered.Link)
				requireGoneOver(t, calls, delivered.WebhookID)
				continue
			}
			require.Equal(t, ladder.numbers, receiver.Headers(calls, "Wakecall-Attempt"), name)
			for _, call := range calls {
				require.Equal(t, delivered.WebhookID, call.Header.Get("webhook-id"), name)
			}
		}
	})
}

// forgetful is the connection of a worker that dies after a receiver has taken a timer, and before
// Temporal has recorded it.
type forgetful struct {
	cut

	armed atomic.Bool
}

//nolint:revive // gRPC's own arguments
func (f *forgetful) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if completed, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok && f.armed.Load() && slices.ContainsFunc(completed.GetCommands(), ends) {
		f.begin()
	}
	return f.cut.intercept(ctx, method, request, reply, conn, invoke, options...)
}

func ends(command *commandpb.Command) bool {
	return command.GetCommandType() == enumspb.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION
}

// arrival is what a receiver was sent.
type arrival struct{ webhookID, attempt, body string }

// What a receiver has taken when a worker dies comes once more if Temporal had not recorded it: under the same
// id, with the same number and body. What was recorded does not.
func TestAWorkerDiesBeforeItsRecord(t *testing.T) {
	t.Parallel()
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		testenv.Steadily(t, func(t testing.TB) {
			r := receiver.New(t)
			dieBeforeTheRecord(t, testenv.Settings(), testenv.JSON{"url": r.URL}, func(id string) (arrived []arrival) {
				for _, call := range r.Calls(id) {
					arrived = append(arrived, arrival{call.Header.Get("webhook-id"), call.Header.Get("Wakecall-Attempt"), string(call.Body)})
				}
				return arrived
			})
		})
	})
	t.Run("RabbitMQ", func(t *testing.T) {
		t.Parallel()
		testenv.Steadily(t, func(t testing.TB) {
			broker, settings, messages := rabbit.Start(t), testenv.Settings(), map[string][]arrival{}
			settings.Brokers = rabbit.BrokersFile(t, broker.URL)
			q := receiver.NewQueue(t, broker.URL, "timers")
			dieBeforeTheRecord(t, settings, testenv.JSON{"broker": "main", "routing_key": q.Name}, func(id string) []arrival {
				for {
					d, ok, err := q.Get(q.Name, true)
					require.NoError(t, err)
					if !ok {
						return messages[id]
					}
					about := fmt.Sprint(d.Headers["Wakecall-Business-Id"])
					messages[about] = append(messages[about], arrival{d.MessageId, fmt.Sprint(d.Headers["Wakecall-Attempt"]), string(d.Body)})
				}
			})
		})
	})
}

// dieBeforeTheRecord rings two timers at a worker that dies before the second one is recorded. arrived are
// the arrivals of a timer so far.
func dieBeforeTheRecord(t testing.TB, settings config.Config, callback testenv.JSON, arrived func(id string) []arrival) {
	t.Helper()
	addr, kind := testenv.Alone(t), sample.Type(t)
	var connection forgetful
	dead, env := testenv.OpenThrough(t, addr, settings, connection.intercept), testenv.OpenWith(t, addr, settings)
	dead.StartWorkerBeside()
	env.Policy(kind, testenv.JSON{"callback": callback})
	for _, id := range []string{"recorded", "lost"} {
		connection.armed.Store(id == "lost")
		dead.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "2s", "payload": testenv.JSON{"about": id}})
		require.Eventually(t, func() bool { return len(arrived(id)) == 1 }, testenv.Patience, testenv.Interval, id)
		if id == "recorded" {
			env.Await(kind+"/"+id, "delivered")
		}
	}
	require.NotEqual(t, "delivered", env.Get(kind+"/lost").Status)
	env.StartWorker()
	env.Await(kind+"/lost", "delivered")
	t.Cleanup(connection.begin())
	lost := arrived("lost")
	require.Len(t, lost, 2)
	require.Equal(t, lost[0], lost[1])
	require.Equal(t, "1", lost[0].attempt)
	require.Len(t, arrived("recorded"), 1)
}
