package timer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestCheckDeclare(t *testing.T) {
	t.Parallel()
	exchange, queue := timer.Destination{Broker: "main", Exchange: "timers"}, timer.Destination{Broker: "main"}
	long := strings.Repeat("q", timer.MaxShortString)
	for name, c := range map[string]struct {
		callback timer.Destination
		declare  timer.Declare
		wrong    []string
	}{
		"an exchange":                 {exchange, timer.Declare{ExchangeType: timer.ExchangeFanout}, nil},
		"a queue of an exchange":      {exchange, timer.Declare{Queue: long, QueueType: timer.QueueQuorum}, nil},
		"the queue of the type":       {queue, timer.Declare{Queue: "order"}, nil},
		"nothing":                     {exchange, timer.Declare{}, []string{""}},
		"without a broker":            {timer.HTTP("https://h/"), timer.Declare{Queue: "order"}, []string{""}},
		"no such types":               {exchange, timer.Declare{ExchangeType: "headers", Queue: "q", QueueType: "stream"}, []string{"/exchange_type", "/queue_type"}},
		"the default exchange":        {queue, timer.Declare{ExchangeType: timer.ExchangeDirect}, []string{"/exchange_type"}},
		"an exchange of the broker's": {timer.Destination{Broker: "main", Exchange: "amq.topic"}, timer.Declare{ExchangeType: timer.ExchangeTopic}, []string{"/exchange_type"}},
		"a queue of the broker's":     {exchange, timer.Declare{Queue: "amq.gen-1"}, []string{"/queue"}},
		"a queue that nothing finds":  {queue, timer.Declare{Queue: "orders"}, []string{"/queue"}},
		"a name too long":             {exchange, timer.Declare{Queue: long + "q"}, []string{"/queue"}},
		"control characters":          {exchange, timer.Declare{Queue: "a\x00"}, []string{"/queue"}},
		"a type of no queue":          {exchange, timer.Declare{QueueType: timer.QueueClassic}, []string{"/queue_type"}},
	} {
		policy := timer.Policy{BusinessType: "order", Callback: timer.Callback{Destination: c.callback}, Declare: &c.declare}
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
		alert timer.Destination
		wrong []string
	}{
		"a URL":          {timer.HTTP("https://h/"), nil},
		"a broker":       {timer.Destination{Broker: "main", Exchange: "alerts"}, nil},
		"both":           {timer.Destination{URL: "https://h/", Broker: "main"}, []string{"/alert/broker"}},
		"nowhere":        {timer.Destination{RoutingKey: "x"}, []string{"/alert/url"}},
		"unknown broker": {timer.Destination{Broker: "other"}, []string{"/alert/broker"}},
	} {
		policy := timer.Policy{BusinessType: "order", Alert: &timer.Alert{Destination: c.alert}}
		var wrong []string
		for _, e := range append(policy.Check(), timer.Reach{Brokers: []string{"main"}}.Policy(policy, timer.Policy{})...) {
			wrong = append(wrong, e.Pointer)
		}
		require.Equal(t, c.wrong, wrong, name)
	}
}
