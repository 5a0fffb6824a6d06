package programs

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
)

// What a receiver accepted is awaited across kill -9, and so is what it says of it.
func TestKilledWhileADeliveryIsAccepted(t *testing.T) {
	t.Parallel()
	env, r, kind := process.NewStandalone(t), receiver.New(t), sample.Type(t)
	victim := env.Start()
	env.Policy(kind, contract.JSON{
		"callback": contract.JSON{"url": r.On("/accept", receiver.Status(http.StatusAccepted))},
		"ack":      contract.JSON{"within": "10m"}, "retry": contract.JSON{"steps": []string{"10ms", "10ms"}},
	})
	deliveries := map[string]client.Delivery{}
	for _, id := range []string{"acked", "nacked"} {
		env.Add(contract.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
		deliveries[id] = client.DeliveryOf(r.Await(t, id, 1)[0].Header)
		require.Eventually(t, func() bool { return !env.Get(kind + "/" + id).AckUntil.IsZero() }, process.Patience, process.Interval, "the 202 is recorded")
	}
	victim.Kill()
	victim = env.Start()
	say := env.Client().Deliveries
	require.False(t, env.Get(kind+"/acked").AckUntil.IsZero())
	_, _, err := say.Nack(t.Context(), deliveries["nacked"], client.Failure{Reason: "not now"})
	require.NoError(t, err)
	_, _, err = say.Ack(t.Context(), deliveries["acked"], nil)
	require.NoError(t, err)
	victim.Kill()
	env.Start()
	env.Await(kind+"/acked", string(timer.Delivered))
	require.Len(t, r.Calls("acked"), 1)
	r.Await(t, "nacked", 2)
	env.Await(kind+"/nacked", string(timer.Delivering))
	var answers []string
	for attempt, err := range env.Client().Timers.Attempts(t.Context(), wire.Key{BusinessType: kind, BusinessID: "nacked"}) {
		require.NoError(t, err)
		answers = append(answers, attempt.Answer)
	}
	require.Contains(t, answers, "not now")
}
