package recurrence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func steps(due *wire.Instant, before ...time.Duration) recurrence.Rule {
	rule := recurrence.Rule{Before: []wire.Duration{}}
	if due != nil {
		rule.DueAt = *due
	}
	for _, step := range before {
		rule.Before = append(rule.Before, wire.Duration(step))
	}
	return rule
}

func TestStepsBeforeADueTime(t *testing.T) {
	t.Parallel()
	rule := steps(at(48*time.Hour), 0, time.Hour, 24*time.Hour, 168*time.Hour)
	spec, err := timer.Admit(key, timer.Terms{Recurrence: &rule}, "b-1", noon)
	require.NoError(t, err)
	var rung []time.Duration
	ids := map[string]bool{}
	for memo, ok := spec.Memo, true; ok; memo, ok = memo.AfterOccurrence(key, timer.Outcome{Status: timer.Delivered}, memo.DueAt) {
		rung = append(rung, memo.DueAt.Until(noon))
		ids[memo.WebhookID(key)] = true
	}
	require.Equal(t, []time.Duration{24 * time.Hour, 47 * time.Hour, 48 * time.Hour}, rung, "what has passed does not ring")
	require.Len(t, ids, 3, "each is a delivery of its own")

	late, ok := spec.NextOccurrence(*at(60 * time.Hour))
	require.True(t, ok)
	require.Equal(t, *at(48 * time.Hour), late.DueAt, "one makes up for all")
	require.Equal(t, 2, late.Series.Skipped)

	local := recurrence.Rule{Before: []wire.Duration{wire.Duration(time.Hour)}, DueLocal: wall(t, "2027-07-31T09:00"), Timezone: "Europe/Berlin"}
	spec, err = timer.Admit(key, timer.Terms{Recurrence: &local}, "b-1", noon)
	require.NoError(t, err)
	require.Equal(t, "2027-07-31T06:00:00.000Z", spec.DueAt.String())
}

func TestListedTimes(t *testing.T) {
	t.Parallel()
	rule := recurrence.Rule{At: []wire.Instant{*at(3 * time.Hour), *at(time.Hour), *at(-time.Hour), *at(time.Hour)}}
	require.Empty(t, rule.Check(noon))
	require.Equal(t, []wire.Instant{*at(time.Hour), *at(3 * time.Hour)}, rule.Upcoming(recurrence.Cursor{Booked: wire.At(noon)}, 10))
	require.Equal(t, time.Hour*2, recurrence.Rule{At: rule.At[:2]}.MinInterval())
}

func TestStepsAreRefused(t *testing.T) {
	t.Parallel()
	local := steps(nil, time.Hour)
	local.DueLocal, local.Timezone = wall(t, "2027-07-31T09:00"), "Europe/Atlantis"
	both := steps(at(time.Hour), 0)
	both.DueLocal = wall(t, "2027-07-31T09:00")
	many := make([]wire.Instant, recurrence.MaxMoments+1)
	for name, c := range map[string]struct {
		rule recurrence.Rule
		want []string
	}{
		"no times":                 {recurrence.Rule{At: []wire.Instant{}}, []string{"/recurrence/at"}},
		"no steps":                 {steps(at(time.Hour)), []string{"/recurrence/before"}},
		"too many":                 {recurrence.Rule{At: many}, []string{"/recurrence/at"}},
		"passed":                   {recurrence.Rule{At: []wire.Instant{*at(-time.Hour)}}, []string{"/recurrence/at"}},
		"all steps passed":         {steps(at(time.Hour), 2*time.Hour), []string{"/recurrence/before"}},
		"far ahead":                {recurrence.Rule{At: []wire.Instant{*at(1), *at(wire.MaxAhead + time.Hour)}}, []string{"/recurrence/at/1"}},
		"due far ahead":            {steps(at(wire.MaxAhead+time.Hour), time.Hour), []string{"/recurrence/due_at"}},
		"negative":                 {steps(at(time.Hour), 0, -time.Second), []string{"/recurrence/before/1"}},
		"finer than a millisecond": {steps(at(time.Hour), time.Microsecond), []string{"/recurrence/before/0"}},
		"no due time":              {steps(nil, time.Hour), []string{"/recurrence/due_at"}},
		"two due times":            {both, []string{"/recurrence/due_local"}},
		"nowhere":                  {local, []string{"/recurrence/timezone"}},
		"due beside a rate":        {recurrence.Rule{Every: in(time.Hour), DueAt: *at(time.Hour)}, []string{"/recurrence/due_at"}},
		"beside a rate":            {recurrence.Rule{Every: in(time.Hour), At: []wire.Instant{*at(time.Hour)}}, []string{"/recurrence/at"}},
		"excluded":                 {recurrence.Rule{At: []wire.Instant{*at(time.Hour)}, Exclude: []string{"* * * * *"}}, []string{"/recurrence/exclude"}},
	} {
		_, err := timer.Admit(key, timer.Terms{Recurrence: &c.rule}, "b-1", noon)
		require.Equal(t, c.want, pointers(err), name)
	}
}
