package recurrence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// A rule with the same meaning changes nothing; another one begins anew.
func TestTheSameRuleInOtherWords(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0) // 2027-01-15T08:00Z
	for name, c := range map[string]struct {
		booked, put string
		same        bool
	}{
		"an interval":           {`{"every":"60m"}`, `{"every":"1h"}`, true},
		"one of several":        {`{"cron":"0 9 * * *"}`, `{"crons":["0 9 * * *"]}`, true},
		"names":                 {`{"cron":"0 9 * JAN MON-WED"}`, `{"cron":"0  9 * 1 1,2,3"}`, true},
		"a nickname":            {`{"cron":"@daily"}`, `{"cron":"0 0 * * *"}`, true},
		"a field for seconds":   {`{"cron":"0 9 * * *"}`, `{"cron":"0 0 9 * * *","seconds":true}`, true},
		"another order":         {`{"crons":["0 9 * * *","0 7 * * *"]}`, `{"crons":["0 7 * * *","0 9 * * *","0 7 * * *"]}`, true},
		"exclusions":            {`{"every":"1h","exclude":["2027-12-25","* 3 * * *"]}`, `{"every":"1h","exclude":["* 3-3 * * *","2027-12-25"]}`, true},
		"moments":               {`{"at":["2027-03-01T00:00:00Z","2027-02-01T00:00:00Z"]}`, `{"at":["2027-02-01T00:00:00Z","2027-03-01T00:00:00Z"]}`, true},
		"steps":                 {`{"before":["1h","2h"],"due_at":"2027-03-01T00:00:00Z"}`, `{"before":["2h","60m"],"due_at":"2027-03-01T00:00:00Z"}`, true},
		"defaults":              {`{"every":"1h"}`, `{"every":"1h","timezone":"UTC","missed":"fire_once","on_failure":"continue"}`, true},
		"another day":           {`{"cron":"0 9 * * MON"}`, `{"cron":"0 9 * * TUE"}`, false},
		"days as a rhythm":      {`{"cron":"0 * * * *"}`, `{"cron":"0 0-23 * * *"}`, false},
		"another maximum":       {`{"every":"1h"}`, `{"every":"1h","max_occurrences":3}`, false},
		"a start that is fixed": {`{"every":"1h"}`, `{"every":"1h","offset":"0s"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, put := recurring(t, rule(t, c.booked), now), rule(t, c.put)
			changed, err := spec.Apply(timer.Change{Terms: timer.Terms{Recurrence: &put}, At: wire.At(now.Add(time.Minute))})
			require.NoError(t, err)
			if c.same {
				require.Equal(t, spec.Series, changed.Series)
			} else {
				require.NotEqual(t, spec.Series.Cursor, changed.Series.Cursor)
			}
		})
	}
}

// The same rule, put again during a pause, resumes the timer and keeps its phase. With paused it
// pauses the timer.
func TestTheSameRulePausesAndResumes(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	again := func(paused bool) timer.Terms {
		return timer.Terms{Recurrence: &recurrence.Rule{Every: &every, Paused: paused}}
	}
	spec := recurring(t, recurrence.Rule{Every: &every}, now)
	planned := spec.DueAt
	for name, pause := range map[string]timer.Change{
		"paused":   {Pause: &timer.Pause{Stop: true}},
		"the same": {Terms: again(true)},
	} {
		pause.At = wire.At(now.Add(10 * time.Minute))
		paused, err := spec.Apply(pause)
		require.NoError(t, err, name)
		require.True(t, paused.Resting(), name)
		resumed, err := paused.Apply(timer.Change{Terms: again(false), At: pause.At.Add(15 * time.Minute)})
		require.NoError(t, err, name)
		require.False(t, resumed.Resting(), name)
		require.Equal(t, planned, resumed.DueAt, name)
	}
}

// A PUT with the same rule changes the rest of the timer, and neither its phase nor its pause.
func TestAPutWithTheSameRule(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	for _, paused := range []bool{false, true} {
		rule := recurrence.Rule{Every: &every, Paused: paused}
		spec := recurring(t, rule, now)
		terms := timer.Terms{Recurrence: &rule, Priority: new(1)}
		put := timer.Change{Replace: true, Terms: terms, Fingerprint: terms.Fingerprint(), At: wire.At(now.Add(time.Minute))}
		changed, err := spec.Apply(put)
		require.NoError(t, err)
		require.Equal(t, 2, changed.Revision)
		require.Equal(t, 1, changed.Priority)
		require.Equal(t, spec.Series, changed.Series)
		require.Equal(t, spec.DueAt, changed.DueAt)

		rule.Paused = !paused
		put.Terms.Recurrence = &rule
		changed, err = spec.Apply(put)
		require.NoError(t, err)
		require.Equal(t, !paused, changed.Resting(), "the rule says whether it is paused")
	}
}

// Extra rings of one millisecond, and one at a nominal time, have different ids.
func TestExtraRingsOfOneMoment(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Hour), time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every}, now)
	at, ids := spec.DueAt, map[string]bool{spec.WebhookID(): true}
	for n := range 5 {
		fired, err := spec.Apply(timer.Change{Ring: true, At: at})
		require.NoError(t, err)
		require.Equal(t, at, fired.RingsAt())
		require.False(t, ids[fired.WebhookID()], "fire %d", n)
		ids[fired.WebhookID()] = true
		memo, ok := fired.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, at)
		require.True(t, ok)
		spec.Memo = memo
	}
}

// An extra ring is due at its request, whatever the rule.
func TestAnExtraRingRingsNow(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for _, text := range []string{
		`{"every":"12h","jitter":"6h"}`, `{"cron":"0 9 * * *","jitter":"6h"}`, `{"crons":["0 9 * * *","0 21 * * *"],"jitter":"6h"}`,
		`{"after":"12h","jitter":"6h"}`, `{"at":["2027-02-01T00:00:00Z","2027-03-01T00:00:00Z"],"jitter":"6h"}`,
		`{"before":["48h","1h"],"due_at":"2027-03-01T00:00:00Z","jitter":"6h"}`,
		`{"every":"12h","jitter":"6h","exclude":["2027-01-15"]}`, `{"every":"12h","jitter":"6h","paused":true}`,
		`{"every":"12h","jitter":"6h","start_at":"2027-06-01T00:00:00Z"}`, `{"every":"12h","jitter":"6h","max_occurrences":1}`,
		`{"every":"12h","jitter":"6h","initial_delay":"1000h"}`, `{"every":"12h","jitter":"6h","missed":"skip"}`,
	} {
		spec := recurring(t, rule(t, text), now)
		at := wire.At(now.Add(time.Minute))
		fired, err := spec.Apply(timer.Change{Ring: true, At: at})
		require.NoError(t, err, text)
		memo, ok := fired.BeginRun().NextOccurrence(at)
		require.True(t, ok, text)
		require.Equal(t, at, memo.RingsAt(), text)
		require.False(t, memo.Resting(), text)
	}
}

// A delivery that ends while a change waits is recorded: its record travels in the next run.
func TestAnEndIsToldOfBehindAChange(t *testing.T) {
	t.Parallel()
	every, half, now := wire.Duration(time.Hour), wire.Duration(30*time.Minute), time.Unix(1_800_000_000, 0)
	spec := recurring(t, recurrence.Rule{Every: &every}, now)
	due := spec.DueAt
	for range 2 { // one extra ring interrupts the delivery, and one waits
		fired, err := spec.Apply(timer.Change{Ring: true, Interrupts: true, At: due})
		require.NoError(t, err)
		spec = fired
	}
	memo, ok := spec.AfterOccurrence(ranking, timer.Outcome{Status: timer.Delivered}, due.Add(time.Second))
	require.True(t, ok)
	spec.Memo = memo
	for name, change := range map[string]timer.Change{
		"another rule": {Terms: timer.Terms{Recurrence: &recurrence.Rule{Every: &half}}},
		"a pause":      {Pause: &timer.Pause{Stop: true}},
		"a fire":       {Ring: true},
	} {
		change.At = due.Add(time.Second)
		changed, err := spec.Apply(change)
		require.NoError(t, err, name)
		require.True(t, changed.Series.Began, name)
		require.Equal(t, 2, changed.Series.Last.Occurrence, name)
		require.NotNil(t, changed.Series.Interrupted, "%s: the first one is delivered still", name)
	}
}
