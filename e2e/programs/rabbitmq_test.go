package programs

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/internal/rabbit"
)

// A message that a killed worker had published without a confirmation is published again
// under the same id. Nothing is lost, and nothing else comes twice.
func TestKilledBetweenMessageAndConfirmation(t *testing.T) {
	t.Parallel()
	broker, env, kind := rabbit.Start(t), process.NewStandalone(t), sample.Type(t)
	var killed atomic.Bool
	proxy := rabbit.NewProxy(t, broker.Address, func() rabbit.Misbehaviour {
		if killed.Load() {
			return rabbit.Behaves()
		}
		return rabbit.KeepsConfirms()
	})
	defer proxy.Close()
	env.Env["WAKECALL_BROKERS"] = rabbit.BrokersFile(t, proxy.URL)
	victim := env.Start()
	env.Policy(kind, contract.JSON{"callback": contract.JSON{"broker": "main", "timeout": "60s"}, "declare": contract.JSON{"queue": kind}})

	const due = 20
	bodies := map[string]string{}
	for i := range due {
		body := fmt.Sprintf(`{"n":%d}`, i)
		booked := env.Add(contract.JSON{"business_type": kind, "business_id": fmt.Sprint(i), "delay": "1s", "payload": contract.JSON{"n": i}})
		bodies[booked.WebhookID] = body
	}
	queue := consume(t, broker, kind)
	arrived := map[string]int{}
	for range due {
		arrived[next(t, queue, bodies)]++
	}
	require.Len(t, arrived, due, "each was published once, and the worker waits for the confirmations")
	for i := range due {
		require.Equal(t, "delivering", env.Get(kind+"/"+fmt.Sprint(i)).Status)
	}
	killed.Store(true)
	victim.Kill()

	env.Start()
	later := env.Add(contract.JSON{"business_type": kind, "business_id": "later", "delay": "0s", "payload": contract.JSON{"n": due}})
	bodies[later.WebhookID] = fmt.Sprintf(`{"n":%d}`, due)
	for range due + 1 {
		arrived[next(t, queue, bodies)]++
	}
	for i := range due {
		env.Await(kind+"/"+fmt.Sprint(i), "delivered")
	}
	env.Await(kind+"/later", "delivered")
	require.Len(t, arrived, due+1)
	for id, times := range arrived {
		want := 2
		if id == later.WebhookID {
			want = 1
		}
		require.Equal(t, want, times, id)
	}
	require.Empty(t, queue, "and no more")
}

// consume consumes the messages of a queue.
func consume(t *testing.T, broker *rabbit.Server, name string) <-chan amqp.Delivery {
	messages, err := receiver.NewQueue(t, broker.URL, name).Consume(name, "", true, false, false, false, nil)
	require.NoError(t, err)
	return messages
}

// next is the id of the next message, whose body must be its timer's.
func next(t *testing.T, queue <-chan amqp.Delivery, bodies map[string]string) string {
	t.Helper()
	select {
	case d := <-queue:
		require.Equal(t, bodies[d.MessageId], string(d.Body))
		return d.MessageId
	case <-time.After(time.Minute):
		require.FailNow(t, "no message comes any more")
		return ""
	}
}
