package timer_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

var ranking = timer.Key{BusinessType: "ranking", BusinessID: "nightly"}

func recurring(t *testing.T, rule timer.Recurrence, now time.Time) timer.Spec {
	t.Helper()
	spec, err := timer.Admit(ranking, timer.Terms{Recurrence: &rule}, "booking", now)
	require.NoError(t, err)
	return spec
}

// However long a chain gets, what a run carries does not grow, its nominal times
// are those of the rule, and no two occurrences share a message id.
func TestALongChainStaysFlat(t *testing.T) {
	t.Parallel()
	every, now := timer.Duration(time.Second), time.Unix(1_800_000_000, 0)
	card := recurring(t, timer.Recurrence{Every: &every}, now).Card
	first, ids := card.DueAt, map[string]bool{}
	var shortest, longest int
	const chain = 10_000
	for n := range chain {
		require.Equal(t, first.Add(time.Duration(n)*time.Second), card.DueAt)
		require.Equal(t, n+1, card.Series.Number)
		ids[card.WebhookID(ranking)] = true
		late := int64(n % 7)
		ended := card.DueAt.Add(time.Duration(late) * time.Millisecond)
		next, ok := card.After(ranking, timer.Outcome{Status: timer.Delivered, Attempts: 1, DeliveredAt: ended, LatenessMS: &late}, ended)
		require.True(t, ok)
		card = next
		text, err := json.Marshal(card)
		require.NoError(t, err)
		if n == 0 {
			shortest = len(text)
		}
		longest = max(longest, len(text))
	}
	require.Len(t, ids, chain)
	require.LessOrEqual(t, longest, shortest+3*len("9999"), "three numbers have more digits, and nothing else grows")
}

func TestAFiredOccurrenceLeavesTheRuleAlone(t *testing.T) {
	t.Parallel()
	every, now := timer.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	spec := recurring(t, timer.Recurrence{Every: &every}, now)
	planned, at := spec.DueAt, timer.At(now.Add(10*time.Minute))
	fired, err := spec.Apply(timer.Change{Ring: true, At: at})
	require.NoError(t, err)
	require.Equal(t, at, fired.DueAt)
	card, ok := fired.After(ranking, timer.Outcome{Status: timer.Delivered}, at.Add(time.Second))
	require.True(t, ok)
	require.Equal(t, planned, card.DueAt)
	require.Equal(t, 2, card.Series.Number)
}

func TestAPauseKeepsTheGrid(t *testing.T) {
	t.Parallel()
	every, now := timer.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	spec := recurring(t, timer.Recurrence{Every: &every}, now)
	planned := spec.DueAt
	spec, err := spec.Apply(timer.Change{Pause: &timer.Pause{Stop: true, Note: "closed"}, At: timer.At(now)})
	require.NoError(t, err)
	require.True(t, spec.Resting())
	require.Empty(t, spec.Upcoming(3, now))
	spec, err = spec.Apply(timer.Change{Pause: &timer.Pause{}, At: timer.At(now.Add(150 * time.Minute))})
	require.NoError(t, err)
	require.False(t, spec.Resting())
	require.Equal(t, planned.Add(2*time.Hour), spec.DueAt, "what passed meanwhile is dropped")
}

func TestActivationBeginsToCount(t *testing.T) {
	t.Parallel()
	every, now := timer.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	spec := recurring(t, timer.Recurrence{Every: &every, Paused: true}, now)
	require.True(t, spec.Resting())
	spec, err := spec.Apply(timer.Change{Pause: &timer.Pause{}, At: timer.At(now.Add(30 * time.Minute))})
	require.NoError(t, err)
	require.Equal(t, timer.At(now.Add(90*time.Minute)), spec.DueAt)
}

func TestANewRuleGoesOnWithTheNumbers(t *testing.T) {
	t.Parallel()
	every, most, now := timer.Duration(time.Hour), 2, time.Unix(1_800_000_000, 0)
	spec := recurring(t, timer.Recurrence{Every: &every}, now)
	card, ok := spec.After(ranking, timer.Outcome{Status: timer.Delivered}, spec.DueAt)
	require.True(t, ok)
	spec.Card = card
	spec, err := spec.Apply(timer.Change{Terms: timer.Terms{Recurrence: &timer.Recurrence{Every: &every, MaxOccurrences: &most}}, At: card.DueAt})
	require.NoError(t, err)
	for _, number := range []int{2, 3} {
		require.Equal(t, number, spec.Series.Number)
		spec.Card, ok = spec.After(ranking, timer.Outcome{Status: timer.Failed}, spec.DueAt)
	}
	require.False(t, ok, "two occurrences from the change on")
}
