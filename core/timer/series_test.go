package timer_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

var ranking = wire.Key{BusinessType: "ranking", BusinessID: "nightly"}

func recurring(t *testing.T, rule recurrence.Rule, now time.Time) timer.Spec {
	t.Helper()
	spec, err := timer.Admit(ranking, timer.Terms{Recurrence: &rule}, "booking", now)
	require.NoError(t, err)
	return spec
}

// In a chain of any length, the input of a run does not grow, its nominal times are those of the
// rule, and no two occurrences share a message id.
func TestALongChainStaysFlat(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Second), time.Unix(1_800_000_000, 0)
	memo := recurring(t, recurrence.Rule{Every: &every}, now).Memo
	first, ids := memo.DueAt, map[string]bool{}
	var shortest, longest int
	const chain = 10_000
	for n := range chain {
		require.Equal(t, first.Add(time.Duration(n)*time.Second), memo.DueAt)
		require.Equal(t, n+1, memo.Series.Number)
		ids[memo.WebhookID(ranking)] = true
		late := int64(n % 7)
		ended := memo.DueAt.Add(time.Duration(late) * time.Millisecond)
		next, ok := memo.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered, Attempts: 1, DeliveredAt: ended, LatenessMS: &late}, ended)
		require.True(t, ok)
		memo = next
		text, err := json.Marshal(memo)
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
	every, now := wire.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every}, now)
	planned, at := spec.DueAt, wire.At(now.Add(10*time.Minute))
	fired, err := spec.Apply(timer.Change{Ring: true, At: at})
	require.NoError(t, err)
	require.Equal(t, at, fired.DueAt)
	memo, ok := fired.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, at.Add(time.Second))
	require.True(t, ok)
	require.Equal(t, planned, memo.DueAt)
	require.Equal(t, 2, memo.Series.Number)
}

func TestAPauseKeepsTheGrid(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every}, now)
	planned := spec.DueAt
	spec, err := spec.Apply(timer.Change{Pause: &timer.Pause{Stop: true, Note: "closed"}, At: wire.At(now)})
	require.NoError(t, err)
	require.True(t, spec.Resting())
	require.Empty(t, spec.Upcoming(3, now))
	spec, err = spec.Apply(timer.Change{Pause: &timer.Pause{}, At: wire.At(now.Add(150 * time.Minute))})
	require.NoError(t, err)
	require.False(t, spec.Resting())
	require.Equal(t, planned.Add(2*time.Hour), spec.DueAt, "what passed meanwhile is dropped")
}

func TestActivationBeginsToCount(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every, Paused: true}, now)
	require.True(t, spec.Resting())
	spec, err := spec.Apply(timer.Change{Pause: &timer.Pause{}, At: wire.At(now.Add(30 * time.Minute))})
	require.NoError(t, err)
	require.Equal(t, wire.At(now.Add(90*time.Minute)), spec.DueAt)
}

func TestANewRuleGoesOnWithTheNumbers(t *testing.T) {
	t.Parallel()
	every, most, now := wire.Duration(time.Hour), 2, time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every}, now)
	memo, ok := spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, spec.DueAt)
	require.True(t, ok)
	spec.Memo = memo
	spec, err := spec.Apply(timer.Change{Terms: timer.Terms{Recurrence: &recurrence.Rule{Every: &every, MaxOccurrences: &most}}, At: memo.DueAt - 1})
	require.NoError(t, err)
	for _, number := range []int{2, 3} {
		require.Equal(t, number, spec.Series.Number)
		spec.Memo, ok = spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Failed}, spec.DueAt)
	}
	require.False(t, ok, "two occurrences from the change on")
}

// A paused new rule also continues the numbers, and its maximum counts from the change.
func TestANewRuleThatWaitsGoesOnWithTheNumbers(t *testing.T) {
	t.Parallel()
	every, most, now := wire.Duration(time.Hour), 2, time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every}, now)
	var ok bool
	for range 5 {
		spec.Memo, ok = spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, spec.DueAt)
		require.True(t, ok)
	}
	at := spec.DueAt - 1
	spec, err := spec.Apply(timer.Change{Terms: timer.Terms{Recurrence: &recurrence.Rule{Every: &every, MaxOccurrences: &most, Paused: true}}, At: at})
	require.NoError(t, err)
	spec, err = spec.Apply(timer.Change{Ring: true, At: at})
	require.NoError(t, err)
	spec.Memo, ok = spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, at)
	require.True(t, ok)
	resumed := at.Add(30 * time.Minute)
	spec, err = spec.Apply(timer.Change{Pause: &timer.Pause{}, At: resumed})
	require.NoError(t, err)
	require.Equal(t, resumed.Add(time.Hour), spec.DueAt, "the rule begins to count")
	for _, number := range []int{7, 8} {
		require.True(t, ok)
		require.Equal(t, number, spec.Series.Number)
		spec.Memo, ok = spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, spec.DueAt)
	}
	require.False(t, ok, "two occurrences from the change on, beside the one that was asked for")
}

// A new rule may be requested just before a ring, and be applied after it.
func TestANewRuleRingsNothingAgain(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	daily := "0 9 * * *"
	spec := recurring(t, recurrence.Rule{Cron: &daily}, now)
	rung, asked := spec.DueAt, spec.DueAt.Add(-time.Second)
	memo, ok := spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, rung.Add(time.Second))
	require.True(t, ok)
	spec.Memo = memo
	changed, err := spec.Apply(timer.Change{Terms: timer.Terms{Recurrence: &recurrence.Rule{Cron: &daily, OnFailure: recurrence.OnFailurePause}}, At: asked})
	require.NoError(t, err)
	require.Equal(t, []any{rung.Add(24 * time.Hour), 2}, []any{changed.DueAt, changed.Series.Number})
}

// An extra ring drops no occurrence of the rule, whether it is being retried, waits for its
// jitter, or is overdue.
func TestAnExtraRingDropsNothing(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		rule recurrence.Rule
		// time of the request after the nominal time
		after  time.Duration
		begun  bool
		number int
	}{
		"retried":                {recurrence.Rule{Every: &every}, 5 * time.Minute, true, 1},
		"retried, and skip":      {recurrence.Rule{Every: &every, Missed: recurrence.MissedSkip}, 5 * time.Minute, true, 1},
		"retried past the next":  {recurrence.Rule{Every: &every, Missed: recurrence.MissedSkip}, 2 * time.Hour, true, 1},
		"overdue":                {recurrence.Rule{Every: &every}, 5 * time.Minute, false, 1},
		"overdue, and fire_all":  {recurrence.Rule{Every: &every, Missed: recurrence.MissedFireAll}, 3 * time.Hour, false, 1},
		"waits for its jitter":   {recurrence.Rule{Every: &every, Jitter: wire.Duration(time.Minute)}, time.Second, false, 1},
		"an overdue fixed delay": {recurrence.Rule{After: &every}, 5 * time.Minute, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := recurring(t, c.rule, now)
			planned, id := spec.DueAt, spec.WebhookID()
			at := planned.Add(c.after)
			fired, err := spec.Apply(timer.Change{Ring: true, Interrupts: c.begun, At: at})
			require.NoError(t, err)
			require.Equal(t, at, fired.DueAt)
			require.NotEqual(t, id, fired.WebhookID())
			memo, ok := fired.NextOccurrence(at.Add(time.Minute))
			require.True(t, ok)
			require.Equal(t, at, memo.DueAt, "it stays what was asked for")
			ended := at.Add(2 * time.Minute)
			memo, ok = memo.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, ended)
			require.True(t, ok)
			require.Equal(t, planned, memo.DueAt)
			require.Equal(t, id, memo.WebhookID(ranking))
			require.Equal(t, c.number, memo.Series.Number)
			memo, ok = memo.NextOccurrence(ended.Add(10 * time.Minute))
			require.True(t, ok)
			require.Equal(t, planned, memo.DueAt, "the run that follows rings it")
			memo, ok = memo.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, ended.Add(time.Second))
			require.True(t, ok)
			require.Greater(t, memo.DueAt, planned)
			require.Equal(t, 3, memo.Series.Number)
		})
	}
}

// Extra rings do not count for the rule's maximum.
func TestExtraRingsDoNotCount(t *testing.T) {
	t.Parallel()
	every, most, now := wire.Duration(time.Hour), 2, time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every, MaxOccurrences: &most}, now)
	fired, err := spec.Apply(timer.Change{Ring: true, At: wire.At(now)})
	require.NoError(t, err)
	require.Len(t, fired.Upcoming(10, now), most)
	memo, ok := fired.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, wire.At(now))
	for range most {
		require.True(t, ok)
		memo, ok = memo.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, memo.DueAt)
	}
	require.False(t, ok)
}

// An edit of a timer does not drop an occurrence that is being retried.
func TestAnEditKeepsTheOccurrence(t *testing.T) {
	t.Parallel()
	every, priority, now := wire.Duration(time.Hour), 1, time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every, Missed: recurrence.MissedSkip}, now)
	planned, late := spec.DueAt, spec.DueAt.Add(10*time.Minute)
	for name, change := range map[string]timer.Change{
		"edited": {Terms: timer.Terms{Priority: &priority}, Interrupts: true, At: late},
		"woken":  {Wake: true, Interrupts: true, At: late},
	} {
		edited, err := spec.Apply(change)
		require.NoError(t, err)
		memo, ok := edited.NextOccurrence(late)
		require.True(t, ok)
		require.Equal(t, planned, memo.DueAt, name)
	}
	memo, ok := spec.NextOccurrence(late)
	require.True(t, ok)
	require.NotEqual(t, planned, memo.DueAt, "the negative control: one that had not begun is skipped")
}
