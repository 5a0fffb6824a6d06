package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

func TestCheckDeclare(t *testing.T) {
	t.Parallel()
	exchange, queue := delivery.Destination{Broker: "main", Exchange: "timers"}, delivery.Destination{Broker: "main"}
	long := strings.Repeat("q", delivery.MaxShortString)
	for name, c := range map[string]struct {
		callback delivery.Destination
		declare  delivery.Declare
		wrong    []string
	}{
		"an exchange":                 {exchange, delivery.Declare{ExchangeType: delivery.ExchangeFanout}, nil},
		"a queue of an exchange":      {exchange, delivery.Declare{Queue: long, QueueType: delivery.QueueQuorum}, nil},
		"the queue of the type":       {queue, delivery.Declare{Queue: "order"}, nil},
		"nothing":                     {exchange, delivery.Declare{}, []string{""}},
		"without a broker":            {delivery.HTTP("https://h/"), delivery.Declare{Queue: "order"}, []string{""}},
		"no such types":               {exchange, delivery.Declare{ExchangeType: "headers", Queue: "q", QueueType: "stream"}, []string{"/exchange_type", "/queue_type"}},
		"the default exchange":        {queue, delivery.Declare{ExchangeType: delivery.ExchangeDirect}, []string{"/exchange_type"}},
		"an exchange of the broker's": {delivery.Destination{Broker: "main", Exchange: "amq.topic"}, delivery.Declare{ExchangeType: delivery.ExchangeTopic}, []string{"/exchange_type"}},
		"a queue of the broker's":     {exchange, delivery.Declare{Queue: "amq.gen-1"}, []string{"/queue"}},
		"a queue that nothing finds":  {queue, delivery.Declare{Queue: "orders"}, []string{"/queue"}},
		"a name too long":             {exchange, delivery.Declare{Queue: long + "q"}, []string{"/queue"}},
		"control characters":          {exchange, delivery.Declare{Queue: "a\x00"}, []string{"/queue"}},
		"a type of no queue":          {exchange, delivery.Declare{QueueType: delivery.QueueClassic}, []string{"/queue_type"}},
	} {
		policy := policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: c.callback}, Declare: &c.declare}
		var wrong []string
		for _, e := range policy.Check() {
			wrong = append(wrong, strings.TrimPrefix(e.Pointer, "/declare"))
		}
		require.Equal(t, c.wrong, wrong, name)
	}
}

func TestAlertsHaveDestinations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		alert delivery.Destination
		wrong []string
	}{
		"a URL":          {delivery.HTTP("https://h/"), nil},
		"a broker":       {delivery.Destination{Broker: "main", Exchange: "alerts"}, nil},
		"both":           {delivery.Destination{URL: "https://h/", Broker: "main"}, []string{"/alert/broker"}},
		"nowhere":        {delivery.Destination{RoutingKey: "x"}, []string{"/alert/url"}},
		"unknown broker": {delivery.Destination{Broker: "other"}, []string{"/alert/broker"}},
	} {
		p := policy.Policy{BusinessType: "order", Alert: &delivery.Alert{Destination: c.alert}}
		var wrong []string
		for _, e := range append(p.Check(), policy.CheckReach(delivery.Reach{Brokers: []string{"main"}}, p, policy.Policy{})...) {
			wrong = append(wrong, e.Pointer)
		}
		require.Equal(t, c.wrong, wrong, name)
	}
}
