package deliveries

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// What was accepted, and is ended by Temporal's own programs, is acknowledged by nobody any
// more.
func TestTemporalsProgramsEndWhatWasAccepted(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	testenv.Accepts(env, r, kind, nil)
	for name, end := range process.Endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := kind + "/" + strings.ReplaceAll(name, " ", "-")
			_, delivery := testenv.Accepted(t, env, r, testenv.Nth{Path: path, Number: 1})
			process.Execute(t, end.Program(t), "--address", testenv.Addr, "workflow", end.Verb, "-w", path)
			require.Zero(t, env.Await(path, "cancelled").AckUntil)
			_, _, err := env.Wakecall().Deliveries.Ack(t.Context(), delivery, nil)
			notAwaited(t, err, timer.Cancelled)
		})
	}
}

// Each occurrence of a recurring timer is acknowledged by itself, and the next one waits for
// the word on the one before.
func TestOccurrencesAreAcknowledged(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	testenv.Accepts(env, r, kind, nil)
	env.Add(testenv.JSON{
		"business_type": kind, "business_id": "1", "recurrence": testenv.JSON{"after": "1s", "max_occurrences": 2},
	})
	say, ids := env.Wakecall().Deliveries, map[string]bool{}
	for n := range 2 {
		call := r.Await(t, "1", n+1)[n]
		require.Equal(t, []string{"1", "2"}[n], call.Header.Get("Wakecall-Occurrence"))
		require.Eventually(t, func() bool { return !env.Get(kind + "/1").AckUntil.IsZero() }, testenv.Patience, 20*time.Millisecond, "the 202 is recorded")
		delivery := client.DeliveryOf(call.Header)
		ids[delivery.WebhookID] = true
		_, _, err := say.Ack(t.Context(), delivery, testenv.Patient)
		require.NoError(t, err)
	}
	require.Equal(t, 1, env.Await(kind+"/1", "delivered").Attempts)
	require.Len(t, ids, 2)
	require.Len(t, r.Calls("1"), 2)
}

// What failed for want of a good word is redelivered like any other, under the same id, and
// acknowledged then.
func TestARedeliveryIsAcknowledged(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	testenv.Accepts(env, r, kind, testenv.JSON{"retry": testenv.JSON{"initial": "1s", "max_attempts": 1}})
	say := env.Wakecall().Deliveries
	_, first := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/1", Number: 1})
	_, _, err := say.Nack(t.Context(), first, client.Failure{Reason: "closed today"})
	require.NoError(t, err)
	env.Await(kind+"/1", "failed")
	require.Less(t, env.Do("POST", "/v1/timers/"+kind+"/1/redeliver", nil).Status, 300)
	second := client.DeliveryOf(r.Await(t, "1", 2)[1].Header)
	require.Equal(t, first.WebhookID, second.WebhookID)
	require.Eventually(t, func() bool { return !env.Get(kind + "/1").AckUntil.IsZero() }, testenv.Patience, 20*time.Millisecond, "the 202 is recorded")
	view, _, err := say.Ack(t.Context(), second, testenv.Patient)
	require.NoError(t, err)
	require.Equal(t, timer.Delivered, view.Status)
}
