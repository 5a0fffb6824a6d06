package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

func TestCheckFallback(t *testing.T) {
	t.Parallel()
	queue := delivery.Destination{Broker: "main", Exchange: "timers"}
	second := func(d delivery.Destination) delivery.Fallback {
		return delivery.Fallback{Callback: delivery.Callback{Destination: d}}
	}
	for name, c := range map[string]struct {
		callback delivery.Destination
		fallback delivery.Fallback
		wrong    []string
	}{
		"a URL behind a broker":     {queue, second(delivery.HTTP("https://h/")), nil},
		"a broker behind a URL":     {delivery.HTTP("https://h/"), second(queue), nil},
		"another path":              {delivery.HTTP("https://h/a"), second(delivery.HTTP("https://h/b")), nil},
		"another exchange":          {queue, second(delivery.Destination{Broker: "main", Exchange: "late"}), nil},
		"itself":                    {delivery.HTTP("https://h/a?b"), second(delivery.HTTP("https://h/a?b")), []string{"/fallback/url"}},
		"itself in other words":     {delivery.HTTP("https://H/"), second(delivery.HTTP("https://h:443")), []string{"/fallback/url"}},
		"itself by the default key": {queue, second(delivery.Destination{Broker: "main", Exchange: "timers", RoutingKey: "order"}), []string{"/fallback/broker"}},
		"nowhere":                   {queue, second(delivery.Destination{RoutingKey: "x"}), []string{"/fallback/url", "/fallback/routing_key"}},
		"a stream":                  {queue, second(delivery.Destination{Stream: true}), nil},
		"behind a stream":           {delivery.Destination{Stream: true}, second(delivery.HTTP("https://h/")), nil},
		"the same stream":           {delivery.Destination{Stream: true}, second(delivery.Destination{Stream: true}), []string{"/fallback/stream"}},
		"a stream and a URL":        {queue, second(delivery.Destination{URL: "https://h/", Stream: true}), []string{"/fallback/stream"}},
		"both":                      {queue, second(delivery.Destination{URL: "https://h/", Broker: "other"}), []string{"/fallback/broker"}},
		"without a callback":        {delivery.Destination{}, second(queue), []string{"/fallback"}},
		"too soon":                  {queue, delivery.Fallback{Callback: delivery.Callback{Destination: delivery.HTTP("https://h/")}, After: 1}, []string{"/fallback/after"}},
		"a wrong header":            {queue, delivery.Fallback{Callback: delivery.Callback{Destination: delivery.HTTP("https://h/"), Headers: map[string]string{"Host": "x"}}}, []string{"/fallback/headers/Host"}},
		"an unknown broker":         {queue, second(delivery.Destination{Broker: "other"}), []string{"/fallback/broker"}},
	} {
		p := policy.Policy{BusinessType: "order", Callback: delivery.Callback{Destination: c.callback}, Fallback: &c.fallback}
		errs := p.Check()
		if len(errs) == 0 {
			errs = policy.CheckReach(delivery.Reach{Brokers: []string{"main"}}, p, policy.Policy{})
		}
		var wrong []string
		for _, e := range errs {
			wrong = append(wrong, e.Pointer)
		}
		require.Equal(t, c.wrong, wrong, name)
	}
}

// Each link has its own ladder.
func TestLaddersOfTwoLinks(t *testing.T) {
	t.Parallel()
	ladder := delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Second), wire.Duration(time.Minute)}}
	for name, c := range map[string]struct {
		attempts, fallbacks int
		link                delivery.Link
		wait                time.Duration
		more                bool
		next                delivery.Link
	}{
		"the callback's first":             {1, 0, delivery.LinkCallback, time.Second, true, ""},
		"the callback's last":              {3, 0, delivery.LinkCallback, 0, true, delivery.LinkFallback},
		"the fallback's first":             {4, 1, delivery.LinkFallback, time.Second, true, delivery.LinkFallback},
		"the fallback's last of all":       {6, 3, delivery.LinkFallback, 0, false, delivery.LinkCallback},
		"the fallback's last, others left": {4, 3, delivery.LinkFallback, time.Second, true, delivery.LinkCallback},
		"only the fallback was tried":      {3, 3, delivery.LinkFallback, 0, true, delivery.LinkCallback},
		"the callback's last of all":       {6, 3, delivery.LinkCallback, 0, false, delivery.LinkCallback},
		"the callback's last, others left": {4, 1, delivery.LinkCallback, time.Second, true, delivery.LinkFallback},
	} {
		report := delivery.Report{Attempt: c.attempts, Fallbacks: c.fallbacks, Link: c.link}
		wait, more := ladder.NextByLinks(report, 0, 0.5)
		require.Equal(t, c.wait, wait, name)
		require.Equal(t, c.more, more, name)
		require.Equal(t, c.next, ladder.LinkFor(report), name)
	}
	wait := func(report delivery.Report) time.Duration {
		wait, _ := ladder.NextByLinks(report, time.Hour, 0.5)
		return wait
	}
	require.Equal(t, time.Hour, wait(delivery.Report{Attempt: 1, Link: delivery.LinkCallback}), "a receiver may ask for a wait")
	require.Zero(t, wait(delivery.Report{Attempt: 3, Link: delivery.LinkCallback}), "but not on behalf of the fallback")
}

// A timer that waits at the fallback is tried by the callback again, by its ladder.
func TestStepFor(t *testing.T) {
	t.Parallel()
	ladder := delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Second), wire.Duration(time.Minute)}, Jitter: 1}
	require.Equal(t, time.Second, ladder.StepFor(nil))
	require.Equal(t, time.Second, ladder.StepFor(&delivery.Report{Attempt: 2, Fallbacks: 2}))
	require.Equal(t, time.Minute, ladder.StepFor(&delivery.Report{Attempt: 3, Fallbacks: 1}))
	require.Zero(t, ladder.StepFor(&delivery.Report{Attempt: 3}))
}

func TestWhatIsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   delivery.Answer
		down, up bool
	}{
		"delivered":    {delivery.Answer{Delivered: true}, false, true},
		"HTTP 500":     {delivery.Answer{Class: delivery.Answered, Status: 503}, true, false},
		"HTTP 400":     {delivery.Answer{Class: delivery.Answered, Status: 404}, false, true},
		"HTTP 429":     {delivery.Answer{Class: delivery.Answered, Status: 429}, false, true},
		"unreachable":  {delivery.Answer{Class: delivery.ConnectFailure}, true, false},
		"silent":       {delivery.Answer{Class: delivery.Timeout}, true, false},
		"blocked":      {delivery.Answer{Class: delivery.BrokerBlocked}, true, false},
		"unroutable":   {delivery.Answer{Class: delivery.Unroutable}, true, false},
		"not its work": {delivery.Answer{Class: delivery.SealedHeader}, false, false},
	} {
		require.Equal(t, c.down, c.answer.Down(), name)
		require.Equal(t, c.up, c.answer.Up(), name)
	}
}

// The secrets of a fallback are hidden, and kept for their own origin.
func TestFallbackHeadersAreKept(t *testing.T) {
	t.Parallel()
	of := func(url, value string) policy.Policy {
		return policy.Policy{Version: 1, Fallback: &delivery.Fallback{Callback: delivery.Callback{Destination: delivery.HTTP(url), Headers: map[string]string{"A": value}}}}
	}
	old := of("https://h/", "1")
	require.Equal(t, delivery.Hidden, old.Mask().Fallback.Headers["A"])
	require.Equal(t, "1", old.Fallback.Headers["A"], "what is stored is not masked")
	for url, kept := range map[string]bool{"https://h/other": true, "https://elsewhere/": false} {
		next := of(url, delivery.Hidden)
		errs := next.KeepFallbackHeaders(old, []string{"A"})
		require.Equal(t, kept, next.Fallback.Headers["A"] == "1", url)
		require.Equal(t, kept, len(errs) == 0, url)
		if !kept {
			require.Equal(t, "/fallback/headers/A", errs[0].Pointer)
		}
	}
	next := of("https://h/", delivery.Hidden)
	require.Len(t, next.KeepFallbackHeaders(policy.Policy{}, []string{"A"}), 1, "there is none to keep")
	for _, d := range policy.Differences(old, of("https://h/", "2")) {
		require.Equal(t, policy.Difference{Pointer: "/fallback/headers/A", From: delivery.Hidden, To: delivery.Hidden}, d)
	}
}

// Links that change places take their headers with them, and no header goes elsewhere.
func TestLinksThatChangePlacesKeepTheirHeaders(t *testing.T) {
	t.Parallel()
	link := func(url, value string) delivery.Callback {
		return delivery.Callback{Destination: delivery.HTTP(url), Headers: map[string]string{"A": value}}
	}
	old := policy.Policy{Version: 1, Callback: link("https://first/", "1"), Fallback: &delivery.Fallback{Callback: link("https://second/", "2")}}
	keep := func(first, second string) (policy.Policy, wire.FieldErrors) {
		next := policy.Policy{
			Callback: link(first, delivery.Hidden), Fallback: &delivery.Fallback{Callback: link(second, delivery.Hidden)},
		}
		return next, append(next.KeepHeaders(old, []string{"A"}), next.KeepFallbackHeaders(old, []string{"A"})...)
	}
	swapped, errs := keep("https://second/", "https://first/")
	require.Empty(t, errs)
	require.Equal(t, "2", swapped.Callback.Headers["A"])
	require.Equal(t, "1", swapped.Fallback.Headers["A"])
	_, errs = keep("https://second/", "https://third/")
	require.Len(t, errs, 2, "the control: nothing was swapped")

	old.Unopened = []string{"/fallback/headers/A"}
	_, errs = keep("https://second/", "https://first/")
	require.Len(t, errs, 1, "what no key opens is known by its former place")
	require.Equal(t, "/callback/headers/A", errs[0].Pointer)
}
