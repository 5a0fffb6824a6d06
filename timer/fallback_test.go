package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

func TestCheckFallback(t *testing.T) {
	t.Parallel()
	queue := timer.Destination{Broker: "main", Exchange: "timers"}
	second := func(d timer.Destination) timer.Fallback {
		return timer.Fallback{Callback: timer.Callback{Destination: d}}
	}
	for name, c := range map[string]struct {
		callback timer.Destination
		fallback timer.Fallback
		wrong    []string
	}{
		"a URL behind a broker":     {queue, second(timer.HTTP("https://h/")), nil},
		"a broker behind a URL":     {timer.HTTP("https://h/"), second(queue), nil},
		"another path":              {timer.HTTP("https://h/a"), second(timer.HTTP("https://h/b")), nil},
		"another exchange":          {queue, second(timer.Destination{Broker: "main", Exchange: "late"}), nil},
		"itself":                    {timer.HTTP("https://h/a?b"), second(timer.HTTP("https://h/a?b")), []string{"/fallback/url"}},
		"itself in other words":     {timer.HTTP("https://H/"), second(timer.HTTP("https://h:443")), []string{"/fallback/url"}},
		"itself by the default key": {queue, second(timer.Destination{Broker: "main", Exchange: "timers", RoutingKey: "order"}), []string{"/fallback/broker"}},
		"nowhere":                   {queue, second(timer.Destination{RoutingKey: "x"}), []string{"/fallback/url", "/fallback/routing_key"}},
		"a stream":                  {queue, second(timer.Destination{Stream: true}), nil},
		"behind a stream":           {timer.Destination{Stream: true}, second(timer.HTTP("https://h/")), nil},
		"the same stream":           {timer.Destination{Stream: true}, second(timer.Destination{Stream: true}), []string{"/fallback/stream"}},
		"a stream and a URL":        {queue, second(timer.Destination{URL: "https://h/", Stream: true}), []string{"/fallback/stream"}},
		"both":                      {queue, second(timer.Destination{URL: "https://h/", Broker: "other"}), []string{"/fallback/broker"}},
		"without a callback":        {timer.Destination{}, second(queue), []string{"/fallback"}},
		"too soon":                  {queue, timer.Fallback{Callback: timer.Callback{Destination: timer.HTTP("https://h/")}, After: 1}, []string{"/fallback/after"}},
		"a wrong header":            {queue, timer.Fallback{Callback: timer.Callback{Destination: timer.HTTP("https://h/"), Headers: map[string]string{"Host": "x"}}}, []string{"/fallback/headers/Host"}},
		"an unknown broker":         {queue, second(timer.Destination{Broker: "other"}), []string{"/fallback/broker"}},
	} {
		policy := timer.Policy{BusinessType: "order", Callback: timer.Callback{Destination: c.callback}, Fallback: &c.fallback}
		errs := policy.Check()
		if len(errs) == 0 {
			errs = timer.Reach{Brokers: []string{"main"}}.Policy(policy, timer.Policy{})
		}
		var wrong []string
		for _, e := range errs {
			wrong = append(wrong, e.Pointer)
		}
		require.Equal(t, c.wrong, wrong, name)
	}
}

// Each link has the ladder for itself.
func TestLaddersOfTwoLinks(t *testing.T) {
	t.Parallel()
	ladder := timer.Retry{Steps: []timer.Duration{timer.Duration(time.Second), timer.Duration(time.Minute)}}
	for name, c := range map[string]struct {
		attempts, fallbacks int
		link                timer.Link
		wait                time.Duration
		more                bool
		next                timer.Link
	}{
		"the callback's first":             {1, 0, timer.LinkCallback, time.Second, true, ""},
		"the callback's last":              {3, 0, timer.LinkCallback, 0, true, timer.LinkFallback},
		"the fallback's first":             {4, 1, timer.LinkFallback, time.Second, true, timer.LinkFallback},
		"the fallback's last of all":       {6, 3, timer.LinkFallback, 0, false, timer.LinkCallback},
		"the fallback's last, others left": {4, 3, timer.LinkFallback, time.Second, true, timer.LinkCallback},
		"only the fallback was tried":      {3, 3, timer.LinkFallback, 0, true, timer.LinkCallback},
		"the callback's last of all":       {6, 3, timer.LinkCallback, 0, false, timer.LinkCallback},
		"the callback's last, others left": {4, 1, timer.LinkCallback, time.Second, true, timer.LinkFallback},
	} {
		report := timer.Report{Attempt: c.attempts, Fallbacks: c.fallbacks, Link: c.link}
		wait, more := ladder.NextByLinks(report, 0, 0.5)
		require.Equal(t, c.wait, wait, name)
		require.Equal(t, c.more, more, name)
		require.Equal(t, c.next, ladder.LinkFor(report), name)
	}
}

// A timer that waits at the fallback is tried by the callback again as its ladder says.
func TestStepFor(t *testing.T) {
	t.Parallel()
	ladder := timer.Retry{Steps: []timer.Duration{timer.Duration(time.Second), timer.Duration(time.Minute)}, Jitter: 1}
	require.Equal(t, time.Second, ladder.StepFor(nil))
	require.Equal(t, time.Second, ladder.StepFor(&timer.Report{Attempt: 2, Fallbacks: 2}))
	require.Equal(t, time.Minute, ladder.StepFor(&timer.Report{Attempt: 3, Fallbacks: 1}))
	require.Zero(t, ladder.StepFor(&timer.Report{Attempt: 3}))
}

func TestWhatIsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   timer.Answer
		down, up bool
	}{
		"delivered":    {timer.Answer{Delivered: true}, false, true},
		"HTTP 500":     {timer.Answer{Class: timer.Answered, Status: 503}, true, false},
		"HTTP 400":     {timer.Answer{Class: timer.Answered, Status: 404}, false, true},
		"HTTP 429":     {timer.Answer{Class: timer.Answered, Status: 429}, false, true},
		"unreachable":  {timer.Answer{Class: timer.ConnectFailure}, true, false},
		"silent":       {timer.Answer{Class: timer.Timeout}, true, false},
		"blocked":      {timer.Answer{Class: timer.BrokerBlocked}, true, false},
		"unroutable":   {timer.Answer{Class: timer.Unroutable}, true, false},
		"not its work": {timer.Answer{Class: timer.SealedHeader}, false, false},
	} {
		require.Equal(t, c.down, c.answer.Down(), name)
		require.Equal(t, c.up, c.answer.Up(), name)
	}
}

// What is secret in a fallback is hidden, and kept for its own origin.
func TestFallbackHeadersAreKept(t *testing.T) {
	t.Parallel()
	of := func(url, value string) timer.Policy {
		return timer.Policy{Version: 1, Fallback: &timer.Fallback{Callback: timer.Callback{Destination: timer.HTTP(url), Headers: map[string]string{"A": value}}}}
	}
	old := of("https://h/", "1")
	require.Equal(t, timer.Hidden, old.Mask().Fallback.Headers["A"])
	require.Equal(t, "1", old.Fallback.Headers["A"], "what is stored is not masked")
	for url, kept := range map[string]bool{"https://h/other": true, "https://elsewhere/": false} {
		next := of(url, timer.Hidden)
		errs := next.KeepFallbackHeaders(old, []string{"A"})
		require.Equal(t, kept, next.Fallback.Headers["A"] == "1", url)
		require.Equal(t, kept, len(errs) == 0, url)
		if !kept {
			require.Equal(t, "/fallback/headers/A", errs[0].Pointer)
		}
	}
	next := of("https://h/", timer.Hidden)
	require.Len(t, next.KeepFallbackHeaders(timer.Policy{}, []string{"A"}), 1, "there is none to keep")
	for _, d := range timer.Differences(old, of("https://h/", "2")) {
		require.Equal(t, timer.Difference{Pointer: "/fallback/headers/A", From: timer.Hidden, To: timer.Hidden}, d)
	}
}
