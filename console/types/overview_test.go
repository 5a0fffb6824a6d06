package types

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
)

// Before the first count there is no number: none would say that there are no timers.
func TestTilesBeforeTheFirstCount(t *testing.T) {
	t.Parallel()
	for _, one := range tilesOf(&watch.Picture{}, "", true) {
		require.False(t, one.Counted, one.Key)
	}
	counted := &watch.Picture{Counts: map[string]*calls.Counts{"order-close": {Scheduled: 3}, "refund": {Scheduled: 4}}}
	for n, one := range tilesOf(counted, "", true) {
		require.True(t, one.Counted, one.Key)
		require.Equal(t, n == 0, one.N == 7, one.Key)
	}
	require.Equal(t, 4, tilesOf(counted, "refund", true)[0].N)
}

// Due within an hour is what falls due in sixty minutes: nothing that has rung, and nothing later.
func TestDueWithinAnHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 2, 51, 7, 0, time.UTC)
	row := TypeRow{}
	require.Zero(t, row.dueSoon(now))
	row.Soon = &calls.Forecast{}
	for minute := -10; minute < 90; minute++ {
		row.Soon.Steps = append(row.Soon.Steps, calls.Step{At: now.Truncate(time.Minute).Add(time.Duration(minute) * time.Minute), Due: 1})
	}
	require.Equal(t, 60, row.dueSoon(now), "one a minute")
	row.Soon.Steps = []calls.Step{{At: now.Truncate(time.Minute).Add(61 * time.Minute), Due: 10}}
	require.Zero(t, row.dueSoon(now), "they are due in 61 minutes")
	row.Soon.Steps = []calls.Step{{At: now.Truncate(time.Minute), Due: 1, DispatchItems: 2}}
	require.Equal(t, 3, row.dueSoon(now))
}

// What is said of a calm day holds for occurrences too, and is not said where that is not known.
func TestACalmDay(t *testing.T) {
	t.Parallel()
	failed := &calls.Failure{Status: 503, At: time.Unix(1000, 0)}
	cycle := calls.Timer{LastOccurrence: &calls.Occurrence{Status: calls.StatusFailed, LastFailure: failed}}
	for name, c := range map[string]struct {
		past    *watch.Past
		samples watch.Samples
		said    string
	}{
		"calm":                 {past: &watch.Past{Recorded: &calls.Objective{}}, said: "overview.calm.day"},
		"not known":            {said: "overview.calm"},
		"no report":            {past: &watch.Past{}, said: "overview.calm"},
		"a timer failed":       {past: &watch.Past{Recorded: &calls.Objective{}, Hours: []calls.OutcomeStep{{Failed: 1}}}, said: "overview.calm"},
		"an occurrence failed": {past: &watch.Past{Recorded: &calls.Objective{Failed: 1}}, said: "overview.calm"},
		"one failed just now":  {past: &watch.Past{Recorded: &calls.Objective{}}, samples: watch.Samples{Recurring: map[string]*watch.Sample{"a": {Timers: []calls.Timer{cycle}}}}},
		"one is tried in vain": {past: &watch.Past{Recorded: &calls.Objective{}}, samples: watch.Samples{Open: map[string]*watch.Sample{"a": {Timers: []calls.Timer{{LastFailure: failed}}}}}},
		"another one rang":     {past: &watch.Past{Recorded: &calls.Objective{}}, samples: watch.Samples{Recurring: map[string]*watch.Sample{"a": {Timers: []calls.Timer{{}}}}}, said: "overview.calm.day"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &watch.Picture{At: time.Unix(1001, 0), Samples: c.samples, Policies: []calls.Policy{{BusinessType: "a"}}}
			if c.past != nil {
				p.Past = map[string]*watch.Past{"a": c.past}
			}
			page := &overviewPage{typesPage: &typesPage{Frame: site.Frame{Picture: p}}}
			require.Equal(t, c.said, page.Calm())
		})
	}
}

// What failed in a day leads to where it is found.
func TestWhatFailedInADayIsFound(t *testing.T) {
	t.Parallel()
	of := func(ended, recorded int) TypeRow {
		past := &watch.Past{Hours: []calls.OutcomeStep{{Failed: ended}}, Recorded: &calls.Objective{Failed: recorded}}
		return TypeRow{Policy: calls.Policy{BusinessType: "a"}, Past: past}
	}
	require.Equal(t, 7, of(0, 7).Past.Failed())
	require.Equal(t, "/console/timers?q=type%3Aa+is%3Arecurring", of(0, 7).Failed())
	require.Equal(t, 8, of(8, 7).Past.Failed(), "the report lacks the last minutes")
	require.Equal(t, "/console/timers?q=type%3Aa+status%3Afailed+ended%3A24h", of(8, 7).Failed())
}
