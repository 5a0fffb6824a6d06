package activities

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// taking accepts every message, and knows one policy or none.
type taking struct {
	Policies
	policy *policy.Policy
	taken  *[]send.Envelope
	answer *delivery.Answer // nil for accepted
}

func (t taking) Policy(context.Context, string) (policy.Policy, error) {
	if t.policy == nil {
		return policy.Policy{}, &wire.Error{Code: wire.NotFound}
	}
	return *t.policy, nil
}

func (t taking) Send(_ context.Context, e send.Envelope) send.Outcome {
	*t.taken = append(*t.taken, e)
	if t.answer != nil {
		return send.Outcome{Answer: *t.answer}
	}
	return send.Outcome{Answer: delivery.Answer{Delivered: true}}
}

// An event goes to its recipient, and does not contain the recipient's address. Without a
// recipient it goes nowhere.
func TestWhoIsSentAnEvent(t *testing.T) {
	t.Parallel()
	p := &policy.Policy{BusinessType: "order", Alert: &delivery.Alert{Destination: delivery.HTTP("http://alert/")}, OnFailed: &delivery.Alert{Destination: delivery.HTTP("http://failed/")}}
	own := delivery.HTTP("http://own/")
	data := timer.EventData{BusinessType: "order", BusinessID: "1"}
	for name, c := range map[string]struct {
		policy *policy.Policy
		event  timer.Event
		want   string
	}{
		"an alert":                       {p, timer.Event{Type: timer.EventFailed}, "http://alert/"},
		"an outcome":                     {p, timer.Event{Type: timer.EventFailed, Outcome: true}, "http://failed/"},
		"an outcome that nobody is told": {p, timer.Event{Type: timer.EventDelivered, Outcome: true}, ""},
		"a timer's own, without a type":  {nil, timer.Event{Type: timer.EventDelivered, Outcome: true, Own: &own}, "http://own/"},
		"an alert without a policy":      {nil, timer.Event{Type: timer.EventFailed}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken := []send.Envelope{}
			world := taking{policy: c.policy, taken: &taken}
			controller := &Controller{Policies: world, Sender: send.New(send.Transports{delivery.DestinationHTTP: world}, noop.NewTracerProvider().Tracer(""))}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivity(controller.Alert)
			c.event.At, c.event.Data = 7, data
			_, err := env.ExecuteActivity(controller.Alert, c.event)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, taken)
				return
			}
			require.Equal(t, c.want, taken[0].Destination.URL)
			var sent map[string]any
			require.NoError(t, json.Unmarshal(taken[0].Body, &sent))
			require.Len(t, sent, 3, "%s", taken[0].Body)
		})
	}
}

// An event that its recipient refuses for good is not sent again. Any other failure is tried again.
func TestAnEventThatIsNotAccepted(t *testing.T) {
	t.Parallel()
	p := &policy.Policy{BusinessType: "order", Alert: &delivery.Alert{Destination: delivery.HTTP("http://alert/")}}
	for name, c := range map[string]struct {
		answer delivery.Answer
		final  bool
	}{
		"for good":    {delivery.Answer{Class: delivery.Answered, Status: 410, NoRetry: true}, true},
		"for now":     {delivery.Answer{Class: delivery.Answered, Status: 503}, false},
		"unreachable": {delivery.Answer{Class: delivery.ConnectFailure}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := taking{policy: p, taken: &[]send.Envelope{}, answer: &c.answer}
			controller := &Controller{Policies: world, Sender: send.New(send.Transports{delivery.DestinationHTTP: world}, noop.NewTracerProvider().Tracer(""))}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivity(controller.Alert)
			_, err := env.ExecuteActivity(controller.Alert, timer.Event{Type: timer.EventFailed, At: 7, Data: timer.EventData{BusinessType: "order", BusinessID: "1"}})
			failed, ok := errors.AsType[*temporal.ApplicationError](err)
			require.True(t, ok, err)
			require.Equal(t, c.final, failed.NonRetryable())
		})
	}
}

// A recipient that the policy names is shown its client certificate. One that a timer names is not:
// otherwise every client that may book could use the certificate against any host.
func TestWhoIsShownTheClientCertificate(t *testing.T) {
	t.Parallel()
	shown := &policy.TLS{CA: "ca", ClientCertificate: "c", ClientKey: "k"}
	alert, own := &delivery.Alert{Destination: delivery.HTTP("http://alert/")}, delivery.HTTP("http://own/")
	p := &policy.Policy{BusinessType: "order", TLS: shown, Alert: alert, OnDelivered: alert}
	for name, c := range map[string]struct {
		event timer.Event
		want  *policy.TLS
	}{
		"of alerts":   {timer.Event{Type: timer.EventFailed}, shown},
		"of outcomes": {timer.Event{Type: timer.EventDelivered, Outcome: true}, shown},
		"of a timer":  {timer.Event{Type: timer.EventDelivered, Outcome: true, Own: &own}, &policy.TLS{CA: "ca"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := taking{policy: p, taken: &[]send.Envelope{}}
			controller := &Controller{Policies: world, Sender: send.New(send.Transports{delivery.DestinationHTTP: world}, noop.NewTracerProvider().Tracer(""))}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivity(controller.Alert)
			c.event.At, c.event.Data = 7, timer.EventData{BusinessType: "order", BusinessID: "1"}
			_, err := env.ExecuteActivity(controller.Alert, c.event)
			require.NoError(t, err)
			require.Equal(t, c.want, (*world.taken)[0].TLS)
		})
	}
}
