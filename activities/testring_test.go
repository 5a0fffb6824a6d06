package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// tested has one policy, and a receiver that gives one answer.
type tested struct {
	policy policy.Policy
	answer send.Outcome
	sent   []send.Message
}

func (p *tested) Policy(context.Context, string) (policy.Policy, error) { return p.policy, nil }

func (p *tested) Send(_ context.Context, m send.Message) send.Outcome {
	p.sent = append(p.sent, m)
	return p.answer
}

// A test event leaves as a callback does, to the link that was asked for, and the result is
// told, whether the receiver took it or not.
func TestATestEventLeavesAsACallbackDoes(t *testing.T) {
	t.Parallel()
	p := &tested{policy: policy.Policy{
		BusinessType: "order", SigningSecrets: []string{"whsec_a"}, TLS: &policy.TLS{CA: "ca"},
		Callback: delivery.Callback{
			Destination: delivery.HTTP("https://orders.test/"), Headers: map[string]string{"X-Tenant": "shop"}, Timeout: wire.Duration(time.Minute),
		},
		Fallback: &delivery.Fallback{Callback: delivery.Callback{Destination: delivery.HTTP("https://backup.test/"), Timeout: wire.Duration(time.Second)}},
	}}
	c := &activities.Controller{Policies: p, Sender: p}
	ring := delivery.TestRing{BusinessType: "order", Link: delivery.LinkCallback, WebhookID: "msg_1", At: 1}

	p.answer = send.Outcome{Answer: delivery.Answer{Class: delivery.Answered, Status: 503, Text: "out of order"}, TLS: &delivery.TLSSeen{Version: "TLS 1.3"}}
	result, err := c.TestRing(t.Context(), ring)
	require.NoError(t, err, "a receiver at fault is a result")
	require.False(t, result.Delivered)
	require.Equal(t, 503, result.Status)
	require.Equal(t, "out of order", result.Answer)
	require.Equal(t, "TLS 1.3", result.TLS.Version)
	require.True(t, result.Signed)
	m := p.sent[0]
	require.Equal(t, "https://orders.test/", m.Destination.URL)
	require.Equal(t, "msg_1", m.ID)
	require.Equal(t, []string{"whsec_a"}, m.Secrets)
	require.Equal(t, p.policy.TLS, m.TLS)
	require.Equal(t, map[string]string{"X-Tenant": "shop", send.HeaderBusinessType: "order"}, m.Headers)
	require.Equal(t, tuning.TestRingTimeout, m.Timeout, "a caller waits for it")
	require.JSONEq(t, `{"type":"wakecall.test","timestamp":"1970-01-01T00:00:00.001Z","data":{"business_type":"order"}}`, string(m.Body))

	ring.Link, p.answer = delivery.LinkFallback, send.Outcome{Answer: delivery.Answer{Delivered: true, Status: 200}, Body: []byte("thanks")}
	result, err = c.TestRing(t.Context(), ring)
	require.NoError(t, err)
	require.True(t, result.Delivered)
	require.Equal(t, "thanks", result.Answer)
	require.Equal(t, "https://backup.test/", p.sent[1].Destination.URL)
	require.Equal(t, time.Second, p.sent[1].Timeout)
	p.policy.Fallback = nil
	_, err = c.TestRing(t.Context(), ring)
	require.Error(t, err)
	require.Len(t, p.sent, 2)
}

// The declaration is of the callback: nothing is declared at the second link, by a test either.
func TestATestOfTheSecondLinkDeclaresNothing(t *testing.T) {
	t.Parallel()
	at := func(broker string) delivery.Callback {
		return delivery.Callback{Destination: delivery.Destination{Broker: broker, Exchange: "timers"}, Timeout: wire.Duration(time.Second)}
	}
	p := &tested{policy: policy.Policy{
		BusinessType: "order", Declare: &delivery.Declare{Queue: "orders"}, Callback: at("main"), Fallback: &delivery.Fallback{Callback: at("spare")},
	}}
	c := &activities.Controller{Policies: p, Sender: p}
	for _, link := range []delivery.Link{delivery.LinkCallback, delivery.LinkFallback} {
		_, err := c.TestRing(t.Context(), delivery.TestRing{BusinessType: "order", Link: link})
		require.NoError(t, err)
	}
	require.Equal(t, p.policy.Declare, p.sent[0].Declare)
	require.Equal(t, "spare", p.sent[1].Destination.Broker)
	require.Nil(t, p.sent[1].Declare)
}

// The status line decides for a test as for a callback, whatever becomes of the rest of the answer.
func TestATestIsDeliveredByItsStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{200: true, 204: true, 0: false, 302: false, 500: false} {
		p := &tested{
			policy: policy.Policy{Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/"), Timeout: wire.Duration(time.Second)}},
			answer: send.Outcome{Answer: delivery.Answer{Class: delivery.BrokenAnswer, Status: status}},
		}
		result, err := (&activities.Controller{Policies: p, Sender: p}).TestRing(t.Context(), delivery.TestRing{BusinessType: "order", Link: delivery.LinkCallback})
		require.NoError(t, err)
		require.Equal(t, want, result.Delivered, status)
		require.Equal(t, want, result.Class == delivery.NoFailure, status)
		require.Equal(t, status, result.Status)
	}
}
