package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Every reason for a wait is shown, with its end and its holder if known. The time of the next
// attempt is shown only if nothing can postpone it.
func TestWhatAnAttemptWaitsFor(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	soon, later, before := now.Add(10*time.Second), now.Add(time.Minute), now.Add(-time.Minute)
	http := delivery.Callback{Destination: delivery.Destination{URL: "https://shop.example"}}
	stream := delivery.Callback{Destination: delivery.Destination{Stream: true}}
	free := policy.Policy{Version: 1, Callback: http}
	with := func(change func(*policy.Policy)) policy.Holds {
		p := free
		change(&p)
		return policy.Holds{Policy: p}
	}
	paused := with(func(p *policy.Policy) { p.Paused, p.PausedBy, p.PausedAt = true, "ana", before })
	pressed := with(func(p *policy.Policy) {
		p.BackPressure = &policy.BackPressure{Since: before, Until: later, Status: 503}
	})
	stopped := with(func(p *policy.Policy) {
		none := 0.0
		p.BackPressure, p.Limits.CallbacksPerSecond = pressed.Policy.BackPressure, &none
	})
	limited := func(rate float64) policy.Holds {
		return with(func(p *policy.Policy) { p.Limits.CallbacksPerSecond = &rate })
	}
	emergency := policy.Holds{Policy: paused.Policy, Emergency: &policy.Emergency{Everything: true, Author: "bo", Note: "fire", Since: before}}
	streamed := with(func(p *policy.Policy) { p.Callback = stream })
	slowStream := limited(2)
	slowStream.Policy.Callback = stream
	unaddressed := with(func(p *policy.Policy) { p.Callback = delivery.Callback{} })
	due, ahead := policy.Standby{NotBefore: before}, policy.Standby{NotBefore: soon}
	because := func(s policy.Standby, cause delivery.Waiting) policy.Standby { s.Cause = cause; return s }
	busy, idle, dead := policy.Queue{Backlog: 6, Polled: true}, policy.Queue{Polled: true}, policy.Queue{}
	receiver, p := "receiver", "policy"
	for name, c := range map[string]struct {
		holds policy.Holds
		wait  policy.Standby
		queue policy.Queue
		want  delivery.Wait
		next  wire.Instant
	}{
		"nothing, due":              {policy.Holds{Policy: free}, due, idle, delivery.Wait{}, before},
		"nothing, a step ahead":     {policy.Holds{Policy: free}, ahead, dead, delivery.Wait{}, soon},
		"emergency before pause":    {emergency, due, idle, delivery.Wait{WaitsFor: "emergency", WaitsSince: before, WaitsBy: "bo", WaitsNote: "fire"}, 0},
		"emergency, a step ahead":   {emergency, ahead, idle, delivery.Wait{WaitsFor: "emergency", WaitsSince: before, WaitsBy: "bo", WaitsNote: "fire"}, 0},
		"pause":                     {paused, due, idle, delivery.Wait{WaitsFor: "pause", WaitsSince: before, WaitsBy: "ana"}, 0},
		"pressure, a limit of 0":    {stopped, due, idle, delivery.Wait{WaitsFor: "back_pressure", WaitsUntil: later, WaitsSince: before, WaitsBy: receiver}, 0},
		"back-pressure":             {pressed, due, idle, delivery.Wait{WaitsFor: "back_pressure", WaitsUntil: later, WaitsSince: before, WaitsBy: receiver}, later},
		"back-pressure, behind it":  {pressed, policy.Standby{NotBefore: later + 5}, idle, delivery.Wait{WaitsFor: "back_pressure", WaitsUntil: later, WaitsSince: before, WaitsBy: receiver}, later + 5},
		"Retry-After":               {policy.Holds{Policy: free}, because(ahead, delivery.WaitsForRetryAfter), idle, delivery.Wait{WaitsFor: "retry_after", WaitsUntil: soon, WaitsBy: receiver}, soon},
		"Retry-After, over":         {policy.Holds{Policy: free}, because(due, delivery.WaitsForRetryAfter), idle, delivery.Wait{}, before},
		"limit of none":             {limited(0), ahead, idle, delivery.Wait{WaitsFor: "limit", WaitsBy: p}, 0},
		"limit":                     {limited(2), due, busy, delivery.Wait{WaitsFor: "limit", WaitsBy: p, WaitsUntil: now.Add(3 * time.Second)}, 0},
		"limit, a step ahead":       {limited(2), ahead, busy, delivery.Wait{}, soon},
		"in flight, on the queue":   {policy.Holds{Policy: free}, due, busy, delivery.Wait{WaitsFor: "in_flight", WaitsBy: p}, 0},
		"in flight, taken and back": {policy.Holds{Policy: free}, because(ahead, delivery.WaitsForInFlight), idle, delivery.Wait{WaitsFor: "in_flight", WaitsBy: p}, 0},
		"nobody to call":            {unaddressed, because(ahead, delivery.WaitsForPolicy), idle, delivery.Wait{WaitsFor: "policy", WaitsBy: p}, 0},
		"nobody to call, until now": {policy.Holds{Policy: free}, because(ahead, delivery.WaitsForPolicy), idle, delivery.Wait{}, soon},
		"no receiver":               {streamed, due, dead, delivery.Wait{WaitsFor: "receiver", WaitsBy: receiver}, 0},
		"no receiver with room":     {streamed, due, busy, delivery.Wait{WaitsFor: "receiver", WaitsBy: receiver}, 0},
		"stream, limit":             {slowStream, due, busy, delivery.Wait{WaitsFor: "limit", WaitsBy: p, WaitsUntil: now.Add(3 * time.Second)}, 0},
		"stream, limit, nobody":     {slowStream, due, dead, delivery.Wait{WaitsFor: "receiver", WaitsBy: receiver}, 0},
		"no worker":                 {policy.Holds{Policy: free}, due, dead, delivery.Wait{WaitsFor: "worker"}, 0},
		"no worker, no policy":      {policy.Holds{}, due, dead, delivery.Wait{WaitsFor: "worker"}, 0},
		"no worker, limit":          {limited(2), due, dead, delivery.Wait{WaitsFor: "worker"}, 0},
	} {
		got, next := c.holds.WaitOf(c.wait, now.Time(), func() policy.Queue { return c.queue })
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.next, next, name)
	}
}

// The author of a policy's pause is kept until it ends, whoever edits the policy.
func TestWhoPausedAPolicy(t *testing.T) {
	t.Parallel()
	running, stopped := policy.Policy{}, policy.Policy{Paused: true}
	first := stopped.RecordPause("ana", running, 7)
	require.Equal(t, policy.Policy{Paused: true, PausedBy: "ana", PausedAt: 7}, first)
	edited := stopped.RecordPause("bo", first, 8)
	require.Equal(t, first, edited)
	require.Equal(t, running, running.RecordPause("bo", edited, 9))
	require.Equal(t, "bo", stopped.RecordPause("bo", running, 9).PausedBy)
	require.NotContains(t, string(edited.Document()), "paused_by")
	require.Empty(t, policy.Differences(policy.Policy{Version: 1, Paused: true}, policy.Policy{Version: 2, Paused: true, PausedBy: "ana", PausedAt: 7}))
}

// When secrets were set is kept until others are set, and is no part of what a client sets.
func TestWhenSecretsWereSet(t *testing.T) {
	t.Parallel()
	none, one, two := policy.Policy{}, policy.Policy{SigningSecrets: []string{"a"}}, policy.Policy{SigningSecrets: []string{"b", "a"}}
	first := one.NextVersion(none, 7)
	require.EqualValues(t, 7, first.SecretsChangedAt)
	require.EqualValues(t, 7, one.NextVersion(first, 8).SecretsChangedAt, "they are the same")
	require.EqualValues(t, 9, two.NextVersion(first, 9).SecretsChangedAt)
	require.Zero(t, none.NextVersion(first, 9).SecretsChangedAt)
	require.NotContains(t, string(first.Document()), "secrets_changed_at")
	later := first
	later.Version, later.SecretsChangedAt = 2, 9
	require.Empty(t, policy.Differences(first, later))
}

// An attempt waits for the ladder after the one before, and never less than for its own try.
func TestAStandbyFollowsTheLadder(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Now())
	retry := delivery.Report{Result: delivery.ResultRetry, EndedAt: now, RetryIn: wire.Duration(time.Hour), Waits: delivery.WaitsForRetryAfter}
	later, accepted := now.Add(2*time.Hour), retry
	accepted.Result = delivery.ResultAccepted
	require.Equal(t, policy.Standby{NotBefore: now.Add(time.Hour), Cause: delivery.WaitsForRetryAfter}, policy.Standby{NotBefore: now}.After(retry))
	require.Equal(t, policy.Standby{NotBefore: later, Cause: delivery.WaitsForRetryAfter}, policy.Standby{NotBefore: later}.After(retry))
	require.Equal(t, policy.Standby{NotBefore: now}, policy.Standby{NotBefore: now}.After(accepted), "its wait is for a failure")
}

// An attempt that several causes hold back is made once all have ended, so each is told.
func TestWhatElseAnAttemptWaitsFor(t *testing.T) {
	t.Parallel()
	now, none := wire.At(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)), 0.0
	soon := now.Add(10 * time.Second)
	all := policy.Holds{
		Emergency: &policy.Emergency{Everything: true, Author: "bo"},
		Policy: policy.Policy{
			Version: 1, Paused: true, PausedBy: "ana", Limits: policy.Limits{CallbacksPerSecond: &none},
			BackPressure: &policy.BackPressure{Since: now, Until: soon, Status: 503},
		},
	}
	asked := policy.Standby{NotBefore: soon, Cause: delivery.WaitsForRetryAfter}
	require.Equal(t, delivery.WaitsForEmergency, all.Wait(now.Time()).WaitsFor)
	require.Equal(t, []delivery.Wait{
		{WaitsFor: "pause", WaitsBy: "ana"}, {WaitsFor: "back_pressure", WaitsSince: now, WaitsUntil: soon, WaitsBy: "receiver"},
		{WaitsFor: "limit", WaitsBy: "policy"}, {WaitsFor: "retry_after", WaitsUntil: soon, WaitsBy: "receiver"},
	}, all.Others(asked, now.Time()))
	require.Len(t, all.Others(policy.Standby{NotBefore: now, Cause: delivery.WaitsForRetryAfter}, now.Time()), 3, "that wait is over")
	require.Empty(t, policy.Holds{Emergency: all.Emergency}.Others(policy.Standby{}, now.Time()))
	require.Empty(t, policy.Holds{}.Others(asked, now.Time()), "it is the gravest")
}
