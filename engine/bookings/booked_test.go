package bookings

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/quota"
)

// fixture is what books timers, on a Temporal in memory that knows the policy of type order.
type fixture struct {
	*Bookings
	reader   *timers.Reader
	temporal *enginetest.Temporal
	worker   enginetest.Worker
}

var order1 = wire.Key{BusinessType: "order", BusinessID: "1"}

const order1ID = "order/1"

func orders() policy.Policy {
	return policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}.WithDefaults()
}

func newFixture(t *testing.T, current policy.Policy) fixture {
	t.Helper()
	temporal := &enginetest.Temporal{}
	temporal.Policy(t, current)
	d := newFixtureOn(t, temporal, time.Hour)
	d.temporal, d.worker = temporal, enginetest.Worker{On: temporal}
	return d
}

// newFixtureOn trusts a policy for as long as ttl.
func newFixtureOn(t *testing.T, temporal client.Client, ttl time.Duration) fixture {
	t.Helper()
	k := kernel.New(temporal, "default", "")
	t.Cleanup(k.EndWaits)
	known := policies.New(k, policies.Config{TTL: ttl})
	reader := timers.NewReader(k, known, waits.New(known, emergencies.New(k, ttl), queues.New(k, known), nil))
	return fixture{reader: reader, Bookings: New(Config{
		Kernel: k, Reader: reader, Policies: known, Limiter: &quota.Local{},
	})}
}

// every is a rule that rings at a fixed rate.
func every(step time.Duration) *recurrence.Rule {
	d := wire.Duration(step)
	return &recurrence.Rule{Every: &d}
}

// in is a request for a timer that is due after a while, with a payload.
func in(delay time.Duration, payload string) Request {
	ahead := wire.Duration(delay)
	return Request{Key: order1, Terms: timer.Terms{Delay: &ahead, Payload: &timer.Payload{Data: []byte(payload), ContentType: timer.ContentTypeJSON}}}
}

// under is a request with an idempotency key.
func under(key string, r Request) Request {
	r.IdempotencyKey = key
	return r
}

func (d fixture) booked(t *testing.T, r Request) timer.View {
	t.Helper()
	view, created, err := d.Add(t.Context(), r)
	require.NoError(t, err)
	require.True(t, created)
	return view
}

func (d fixture) refused(t *testing.T, r Request) wire.Code {
	t.Helper()
	_, created, err := d.Add(t.Context(), r)
	require.False(t, created)
	return wire.CodeOf(err)
}

// limits is a limiter that lets nobody book for a second.
type limits struct{}

func (limits) Allow(context.Context, string, quota.Limit) (time.Duration, error) {
	return time.Second, nil
}
