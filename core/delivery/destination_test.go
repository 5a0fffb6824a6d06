package delivery_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

func TestCheckDestination(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", delivery.MaxShortString)
	for name, c := range map[string]struct {
		destination delivery.Destination
		wrong       []string
	}{
		"none":                  {delivery.Destination{}, nil},
		"a URL":                 {delivery.HTTP("https://h/"), nil},
		"a broker":              {delivery.Destination{Broker: "main"}, nil},
		"all of a broker":       {delivery.Destination{Broker: "main", Exchange: "timers ü", RoutingKey: long}, nil},
		"both":                  {delivery.Destination{URL: "https://h/", Broker: "main"}, []string{"/broker"}},
		"no name":               {delivery.Destination{Broker: "Main!"}, []string{"/broker"}},
		"without a broker":      {delivery.Destination{Exchange: "a", RoutingKey: "b"}, []string{"/exchange", "/routing_key"}},
		"a key of 256 bytes":    {delivery.Destination{Broker: "main", RoutingKey: long + "k"}, []string{"/routing_key"}},
		"control characters":    {delivery.Destination{Broker: "main", Exchange: "a\x00b", RoutingKey: "a\nb"}, []string{"/exchange", "/routing_key"}},
		"a stream":              {delivery.Destination{Stream: true}, nil},
		"a stream and a URL":    {delivery.Destination{Stream: true, URL: "https://h/"}, []string{"/stream"}},
		"a stream and a broker": {delivery.Destination{Stream: true, Broker: "main"}, []string{"/stream"}},
		"a key of a stream":     {delivery.Destination{Stream: true, RoutingKey: "b"}, []string{"/routing_key"}},
		"a key with a URL":      {delivery.Destination{URL: "https://h/", RoutingKey: "b"}, []string{"/routing_key"}},
		"a URL that is none":    {delivery.HTTP("x"), []string{"/url"}},
		"everything is too bad": {delivery.Destination{URL: "x", Broker: "?", Exchange: "\x7f"}, []string{"/url", "/broker", "/exchange"}},
	} {
		var wrong []string
		for _, e := range c.destination.Check() {
			wrong = append(wrong, e.Pointer)
		}
		require.Equal(t, c.wrong, wrong, name)
	}
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	queue := delivery.Destination{Broker: "main", Exchange: "timers"}
	require.Equal(t, delivery.DestinationAMQP, queue.Kind())
	require.Equal(t, delivery.DestinationHTTP, delivery.HTTP("https://h/").Kind())
	require.Equal(t, delivery.DestinationStream, delivery.Destination{Stream: true}.Kind())
	require.Equal(t, "stream", delivery.Destination{Stream: true}.Routed("order").Target())
	require.Equal(t, delivery.NoDestination, delivery.Destination{}.Kind())
	require.Equal(t, delivery.Destination{Broker: "main", Exchange: "timers", RoutingKey: "order"}, queue.Routed("order"))
	require.Equal(t, "other", delivery.Destination{Broker: "main", RoutingKey: "other"}.Routed("order").RoutingKey)
	require.Equal(t, delivery.HTTP("https://h/"), delivery.HTTP("https://h/").Routed("order"))
	require.Equal(t, "main:timers/order", queue.Routed("order").Target())
	require.Equal(t, "https://h/a", delivery.HTTP("https://h/a?token=1").Target())
}

func TestBrokersAreKnown(t *testing.T) {
	t.Parallel()
	at := func(broker string) *delivery.Callback {
		return &delivery.Callback{Destination: delivery.Destination{Broker: broker}}
	}
	reach := delivery.Reach{Brokers: []string{"main"}}
	require.Empty(t, reach.Callback(at("main")))
	for _, r := range []delivery.Reach{reach, {}} {
		errs := r.Callback(at("other"))
		require.Len(t, errs, 1)
		require.Equal(t, "/callback/broker", errs[0].Pointer)
		require.Contains(t, errs[0].Detail, "WAKECALL_BROKERS")
		require.Equal(t, errs, policy.CheckReach(r, policy.Policy{Callback: *at("other")}, policy.Policy{}))
	}
}

// Credentials in headers stay with the broker they were given for.
func TestHeadersStayWithTheirBroker(t *testing.T) {
	t.Parallel()
	own := delivery.Callback{Destination: delivery.Destination{Broker: "main", RoutingKey: "a"}, Headers: map[string]string{"A": "1"}}
	moved, errs := own.Amend(delivery.Callback{Destination: delivery.Destination{Broker: "main", RoutingKey: "b"}})
	require.Empty(t, errs)
	require.Equal(t, "b", moved.RoutingKey)
	for _, elsewhere := range []delivery.Destination{{Broker: "other"}, delivery.HTTP("https://h/")} {
		_, errs = own.Amend(delivery.Callback{Destination: elsewhere})
		require.Len(t, errs, 1)
	}
}
