package timer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestCheckDestination(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", timer.MaxShortString)
	for name, c := range map[string]struct {
		destination timer.Destination
		wrong       []string
	}{
		"none":                  {timer.Destination{}, nil},
		"a URL":                 {timer.HTTP("https://h/"), nil},
		"a broker":              {timer.Destination{Broker: "main"}, nil},
		"all of a broker":       {timer.Destination{Broker: "main", Exchange: "timers ü", RoutingKey: long}, nil},
		"both":                  {timer.Destination{URL: "https://h/", Broker: "main"}, []string{"/broker"}},
		"no name":               {timer.Destination{Broker: "Main!"}, []string{"/broker"}},
		"without a broker":      {timer.Destination{Exchange: "a", RoutingKey: "b"}, []string{"/exchange", "/routing_key"}},
		"a key of 256 bytes":    {timer.Destination{Broker: "main", RoutingKey: long + "k"}, []string{"/routing_key"}},
		"control characters":    {timer.Destination{Broker: "main", Exchange: "a\x00b", RoutingKey: "a\nb"}, []string{"/exchange", "/routing_key"}},
		"a stream":              {timer.Destination{Stream: true}, nil},
		"a stream and a URL":    {timer.Destination{Stream: true, URL: "https://h/"}, []string{"/stream"}},
		"a stream and a broker": {timer.Destination{Stream: true, Broker: "main"}, []string{"/stream"}},
		"a key of a stream":     {timer.Destination{Stream: true, RoutingKey: "b"}, []string{"/routing_key"}},
		"a key with a URL":      {timer.Destination{URL: "https://h/", RoutingKey: "b"}, []string{"/routing_key"}},
		"a URL that is none":    {timer.HTTP("x"), []string{"/url"}},
		"everything is too bad": {timer.Destination{URL: "x", Broker: "?", Exchange: "\x7f"}, []string{"/url", "/broker", "/exchange"}},
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
	queue := timer.Destination{Broker: "main", Exchange: "timers"}
	require.Equal(t, timer.DestinationAMQP, queue.Kind())
	require.Equal(t, timer.DestinationHTTP, timer.HTTP("https://h/").Kind())
	require.Equal(t, timer.DestinationStream, timer.Destination{Stream: true}.Kind())
	require.Equal(t, "stream", timer.Destination{Stream: true}.Routed("order").Target())
	require.Equal(t, timer.NoDestination, timer.Destination{}.Kind())
	require.Equal(t, timer.Destination{Broker: "main", Exchange: "timers", RoutingKey: "order"}, queue.Routed("order"))
	require.Equal(t, "other", timer.Destination{Broker: "main", RoutingKey: "other"}.Routed("order").RoutingKey)
	require.Equal(t, timer.HTTP("https://h/"), timer.HTTP("https://h/").Routed("order"))
	require.Equal(t, "main:timers/order", queue.Routed("order").Target())
	require.Equal(t, "https://h/a", timer.HTTP("https://h/a?token=1").Target())
}

func TestBrokersAreKnown(t *testing.T) {
	t.Parallel()
	at := func(broker string) *timer.Callback {
		return &timer.Callback{Destination: timer.Destination{Broker: broker}}
	}
	reach := timer.Reach{Brokers: []string{"main"}}
	require.Empty(t, reach.Callback(at("main")))
	for _, r := range []timer.Reach{reach, {}} {
		errs := r.Callback(at("other"))
		require.Len(t, errs, 1)
		require.Equal(t, "/callback/broker", errs[0].Pointer)
		require.Contains(t, errs[0].Detail, "WAKECALL_BROKERS")
		require.Equal(t, errs, r.Policy(timer.Policy{Callback: *at("other")}, timer.Policy{}))
	}
}

// Credentials in headers stay with the broker that they were given for.
func TestHeadersStayWithTheirBroker(t *testing.T) {
	t.Parallel()
	own := timer.Callback{Destination: timer.Destination{Broker: "main", RoutingKey: "a"}, Headers: map[string]string{"A": "1"}}
	moved, errs := own.Amend(timer.Callback{Destination: timer.Destination{Broker: "main", RoutingKey: "b"}})
	require.Empty(t, errs)
	require.Equal(t, "b", moved.RoutingKey)
	for _, elsewhere := range []timer.Destination{{Broker: "other"}, timer.HTTP("https://h/")} {
		_, errs = own.Amend(timer.Callback{Destination: elsewhere})
		require.Len(t, errs, 1)
	}
}
