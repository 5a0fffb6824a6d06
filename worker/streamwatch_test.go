package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// waitingTypes is a Temporal with attempts that have waited for a while, and records what it is
// given.
type waitingTypes struct {
	Observer
	longest map[string]time.Duration
	looks   int
	shown   map[string]int
	raised  map[string]int // by occasion
	err     error
}

func (w *waitingTypes) waiting(_ context.Context, businessType string) (int, time.Duration, error) {
	w.looks++
	longest, waits := w.longest[businessType]
	switch {
	case businessType == "broken":
		return 0, 0, errors.New("no answer")
	case !waits:
		return 0, 0, nil
	}
	return 3, longest, nil
}

func (w *waitingTypes) StreamsWait(attempts map[string]int) { w.shown = attempts }

func (w *waitingTypes) Raise(_ context.Context, event timer.Event, occasion string) error {
	if w.raised == nil {
		w.raised = map[string]int{}
	}
	w.raised[string(event.Type)+" "+event.Data.BusinessType+" "+occasion] += event.Data.Waiting
	return w.err
}

// Attempts that wait under an older policy move to the link of the present one, while the oldest
// is from before the change.
func TestWhatWaitsAsAnOlderPolicySaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := wire.At(time.Now().Add(-time.Minute))
		two := func(name string, since wire.Instant) policy.Policy {
			return policy.Policy{
				BusinessType: name, Version: 2, Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}},
				Fallback: &delivery.Fallback{}, StreamedUntil: since,
			}
		}
		w := &waitingTypes{longest: map[string]time.Duration{"before": 2 * time.Minute, "since": time.Second, "never": time.Hour}}
		q := &queueWorkers{watch: &streamWatch{waiting: w.waiting, alerts: w, observer: w, logger: slog.New(slog.DiscardHandler)}}
		policies := []policy.Policy{two("before", changed), two("since", changed), two("never", 0), two("served", changed)}
		require.False(t, q.drained(policies[0]), "nobody has looked yet")
		q.watch.look(t.Context(), policies)
		for _, policy := range policies {
			require.Equal(t, policy.BusinessType == "before", q.drained(policy), policy.BusinessType)
		}
		called := policy.Policy{BusinessType: "called", Version: 1}
		require.False(t, q.drained(called))
		called.StreamedUntil = changed
		require.True(t, q.drained(called))
		require.True(t, q.drained(policy.Policy{BusinessType: "gone"}))

		delete(w.longest, "before")
		<-time.After(tuning.StreamWatch)
		q.watch.look(t.Context(), policies)
		require.False(t, q.drained(policies[0]))
	})
}

func TestSomebodyIsToldWhatWaitsForReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := delivery.Callback{Destination: delivery.Destination{Stream: true}}
		held := &policy.BackPressure{Until: wire.At(time.Now().Add(10 * time.Minute))}
		policies := []policy.Policy{
			{BusinessType: "order", Callback: stream}, {BusinessType: "shortly", Callback: stream}, {BusinessType: "served", Callback: stream},
			{BusinessType: "paused", Callback: stream, Paused: true}, {BusinessType: "held", Callback: stream, BackPressure: held}, {BusinessType: "broken", Callback: stream}, {BusinessType: "http"},
		}
		var log bytes.Buffer
		w := &waitingTypes{longest: map[string]time.Duration{"order": tuning.StreamPatience, "shortly": time.Second, "paused": time.Hour, "held": time.Hour, "http": time.Hour}}
		watch := &streamWatch{waiting: w.waiting, alerts: w, observer: w, logger: slog.New(slog.NewTextHandler(&log, nil))}
		watch.look(t.Context(), policies)
		require.Equal(t, map[string]int{"order": 3, "shortly": 3, "paused": 0, "held": 0, "served": 0}, w.shown, "what is paused waits for no receiver")
		require.Equal(t, map[string]int{"stream.waits order 2000-01-01T00:00:00.000Z": 3}, w.raised, "whoever was told of a pause knows of it")
		require.Contains(t, log.String(), "business_type=broken")
		watch.look(t.Context(), policies)
		require.Equal(t, 6, w.looks, "not more often than needed")

		w.err = errors.New("no answer")
		<-time.After(time.Hour)
		watch.look(t.Context(), policies)
		require.Equal(t, 3, w.raised["stream.waits order 2000-01-01T01:00:00.000Z"], "again each hour")
		require.Contains(t, log.String(), "an alert was not raised")
	})
}
