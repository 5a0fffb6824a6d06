package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// Every way of being held is told, with until when and by whom where that is known. The
// time of the next attempt is told only where nothing can put it off.
func TestWhatAnAttemptWaitsFor(t *testing.T) {
	t.Parallel()
	now := timer.At(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	soon, later, before := now.Add(10*time.Second), now.Add(time.Minute), now.Add(-time.Minute)
	http := timer.Callback{Destination: timer.Destination{URL: "https://shop.example"}}
	stream := timer.Callback{Destination: timer.Destination{Stream: true}}
	free := timer.Policy{Version: 1, Callback: http}
	with := func(change func(*timer.Policy)) timer.Holds {
		p := free
		change(&p)
		return timer.Holds{Policy: p}
	}
	paused := with(func(p *timer.Policy) { p.Paused, p.PausedBy, p.PausedAt = true, "ana", before })
	pressed := with(func(p *timer.Policy) { p.BackPressure = &timer.BackPressure{Since: before, Until: later, Status: 503} })
	limited := func(rate float64) timer.Holds {
		return with(func(p *timer.Policy) { p.Limits.CallbacksPerSecond = &rate })
	}
	emergency := timer.Holds{Policy: paused.Policy, Emergency: &timer.Emergency{Everything: true, Author: "bo", Note: "fire", Since: before}}
	streamed := with(func(p *timer.Policy) { p.Callback = stream })
	slowStream := limited(2)
	slowStream.Policy.Callback = stream
	unaddressed := with(func(p *timer.Policy) { p.Callback = timer.Callback{} })
	due, ahead := timer.Standby{NotBefore: before}, timer.Standby{NotBefore: soon}
	because := func(s timer.Standby, cause timer.Waiting) timer.Standby { s.Cause = cause; return s }
	busy, idle, dead := timer.Queue{Backlog: 6, Polled: true}, timer.Queue{Polled: true}, timer.Queue{}
	receiver, policy := "receiver", "policy"
	for name, c := range map[string]struct {
		holds timer.Holds
		wait  timer.Standby
		queue timer.Queue
		want  timer.Wait
		next  timer.Instant
	}{
		"nothing, due":              {timer.Holds{Policy: free}, due, idle, timer.Wait{}, before},
		"nothing, a step ahead":     {timer.Holds{Policy: free}, ahead, dead, timer.Wait{}, soon},
		"emergency before pause":    {emergency, due, idle, timer.Wait{WaitsFor: "emergency", WaitsSince: before, WaitsBy: "bo", WaitsNote: "fire"}, 0},
		"emergency, a step ahead":   {emergency, ahead, idle, timer.Wait{WaitsFor: "emergency", WaitsSince: before, WaitsBy: "bo", WaitsNote: "fire"}, 0},
		"pause":                     {paused, due, idle, timer.Wait{WaitsFor: "pause", WaitsSince: before, WaitsBy: "ana"}, 0},
		"back-pressure":             {pressed, due, idle, timer.Wait{WaitsFor: "back_pressure", WaitsUntil: later, WaitsSince: before, WaitsBy: receiver}, later},
		"back-pressure, behind it":  {pressed, timer.Standby{NotBefore: later + 5}, idle, timer.Wait{WaitsFor: "back_pressure", WaitsUntil: later, WaitsSince: before, WaitsBy: receiver}, later + 5},
		"Retry-After":               {timer.Holds{Policy: free}, because(ahead, timer.WaitsForRetryAfter), idle, timer.Wait{WaitsFor: "retry_after", WaitsUntil: soon, WaitsBy: receiver}, soon},
		"Retry-After, over":         {timer.Holds{Policy: free}, because(due, timer.WaitsForRetryAfter), idle, timer.Wait{}, before},
		"limit of none":             {limited(0), ahead, idle, timer.Wait{WaitsFor: "limit", WaitsBy: policy}, 0},
		"limit":                     {limited(2), due, busy, timer.Wait{WaitsFor: "limit", WaitsBy: policy, WaitsUntil: now.Add(3 * time.Second)}, 0},
		"limit, a step ahead":       {limited(2), ahead, busy, timer.Wait{}, soon},
		"in flight, on the queue":   {timer.Holds{Policy: free}, due, busy, timer.Wait{WaitsFor: "in_flight", WaitsBy: policy}, 0},
		"in flight, taken and back": {timer.Holds{Policy: free}, because(ahead, timer.WaitsForInFlight), idle, timer.Wait{WaitsFor: "in_flight", WaitsBy: policy}, 0},
		"nobody to call":            {unaddressed, because(ahead, timer.WaitsForPolicy), idle, timer.Wait{WaitsFor: "policy", WaitsBy: policy}, 0},
		"nobody to call, until now": {timer.Holds{Policy: free}, because(ahead, timer.WaitsForPolicy), idle, timer.Wait{}, soon},
		"no receiver":               {streamed, due, dead, timer.Wait{WaitsFor: "receiver", WaitsBy: receiver}, 0},
		"no receiver with room":     {streamed, due, busy, timer.Wait{WaitsFor: "receiver", WaitsBy: receiver}, 0},
		"stream, limit":             {slowStream, due, busy, timer.Wait{WaitsFor: "limit", WaitsBy: policy, WaitsUntil: now.Add(3 * time.Second)}, 0},
		"stream, limit, nobody":     {slowStream, due, dead, timer.Wait{WaitsFor: "receiver", WaitsBy: receiver}, 0},
		"no worker":                 {timer.Holds{Policy: free}, due, dead, timer.Wait{WaitsFor: "worker"}, 0},
		"no worker, no policy":      {timer.Holds{}, due, dead, timer.Wait{WaitsFor: "worker"}, 0},
		"no worker, limit":          {limited(2), due, dead, timer.Wait{WaitsFor: "worker"}, 0},
	} {
		got, next := c.holds.WaitOf(c.wait, now.Time(), func() timer.Queue { return c.queue })
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.next, next, name)
	}
}

// Who pauses a policy is known until it goes on, whoever edits it meanwhile.
func TestWhoPausedAPolicy(t *testing.T) {
	t.Parallel()
	running, stopped := timer.Policy{}, timer.Policy{Paused: true}
	first := stopped.By("ana", running, 7)
	require.Equal(t, timer.Policy{Paused: true, PausedBy: "ana", PausedAt: 7}, first)
	edited := stopped.By("bo", first, 8)
	require.Equal(t, first, edited)
	require.Equal(t, running, running.By("bo", edited, 9))
	require.Equal(t, "bo", stopped.By("bo", running, 9).PausedBy)
	require.NotContains(t, string(edited.Document()), "paused_by")
	require.Empty(t, timer.Differences(timer.Policy{Version: 1, Paused: true}, timer.Policy{Version: 2, Paused: true, PausedBy: "ana", PausedAt: 7}))
}
