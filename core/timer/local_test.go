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

func wall(t *testing.T, text string) *wire.Wall {
	t.Helper()
	var w wire.Wall
	require.NoError(t, w.UnmarshalText([]byte(text)))
	return &w
}

func TestWallIsWrittenShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2027-01-31T09:00": "2027-01-31T09:00", "2027-01-31T09:00:00": "2027-01-31T09:00", "2027-01-31T09:00:07": "2027-01-31T09:00:07",
		"2027-01-31T09:00:07.5": "2027-01-31T09:00:07.500", "2027-01-31t09:00:07": "2027-01-31T09:00:07", "2027-01-31T09:00:00.000": "2027-01-31T09:00",
	} {
		require.Equal(t, want, wall(t, text).String())
		raw, err := json.Marshal(wall(t, text))
		require.NoError(t, err)
		require.Equal(t, `"`+want+`"`, string(raw))
	}
	for _, text := range []string{
		"", "2027-01-31", "2027-01-31T09:00Z", "2027-01-31T09:00+01:00", "2027-01-31 09:00", "2027-02-30T09:00", "2027-01-31T24:00",
		"2027-01-31T09:00:60", "2027-01-31T09:00:07.1234", "1969-12-31T23:59", "1970-01-01T00:00", "2027-1-31T09:00", "2027-01-31T9:00",
		"2027-01-31T09:00:07,5",
	} {
		var w wire.Wall
		require.Error(t, w.UnmarshalText([]byte(text)), text)
	}
}

func TestALocalDueTime(t *testing.T) {
	t.Parallel()
	terms := timer.Terms{DueLocal: wall(t, "2027-03-28T02:30"), Timezone: "Europe/Berlin"}
	spec, err := timer.Admit(key, terms, "b-1", noon)
	require.NoError(t, err)
	require.Equal(t, "2027-03-28T01:00:00.000Z", spec.DueAt.String(), "the clock lands there")
	require.Equal(t, &timer.Local{Due: *terms.DueLocal, Timezone: "Europe/Berlin"}, spec.Local)
	require.Nil(t, terms.DueAt)
	require.Equal(t, spec.DueAt, *terms.FixLocalDue().DueAt)
	require.Equal(t, terms.Fingerprint(), spec.Fingerprint, "it is that of what the client said")

	for name, change := range map[string]timer.Change{
		"moved":     {Terms: timer.Terms{Delay: in(time.Hour)}},
		"replaced":  {Replace: true, Terms: timer.Terms{DueAt: at(time.Hour)}},
		"recurring": {Replace: true, Terms: timer.Terms{Recurrence: &recurrence.Rule{Every: in(time.Hour)}}},
		"rung":      {Ring: true},
	} {
		change.At = wire.At(noon)
		changed, err := spec.Apply(change)
		require.NoError(t, err, name)
		require.Nil(t, changed.Local, name)
	}
	kept, err := spec.Apply(timer.Change{Terms: timer.Terms{Priority: ptr(1)}, At: wire.At(noon)})
	require.NoError(t, err)
	require.Equal(t, spec.Local, kept.Local)
	again, err := kept.Apply(timer.Change{Terms: timer.Terms{DueLocal: wall(t, "2027-05-01T09:00"), Timezone: "Asia/Tokyo"}, At: wire.At(noon)})
	require.NoError(t, err)
	require.Equal(t, "2027-05-01T00:00:00.000Z", again.DueAt.String())
	require.Equal(t, "Asia/Tokyo", again.Local.Timezone)

	recurring, err := timer.Admit(key, timer.Terms{Recurrence: &recurrence.Rule{Every: in(time.Hour)}}, "b-1", noon)
	require.NoError(t, err)
	_, err = recurring.Apply(timer.Change{Terms: terms, At: wire.At(noon)})
	require.Equal(t, []string{"/due_local"}, pointers(err))
}

func TestLocalDueTimesAreRefused(t *testing.T) {
	t.Parallel()
	soon := wall(t, "2026-12-01T09:00")
	for name, c := range map[string]struct {
		terms timer.Terms
		want  []string
	}{
		"without a zone":    {timer.Terms{DueLocal: soon}, []string{"/timezone"}},
		"an unknown zone":   {timer.Terms{DueLocal: soon, Timezone: "Europe/Atlantis"}, []string{"/timezone"}},
		"the machine's own": {timer.Terms{DueLocal: soon, Timezone: "Local"}, []string{"/timezone"}},
		"a zone alone":      {timer.Terms{Delay: in(0), Timezone: "Europe/Berlin"}, []string{"/timezone"}},
		"beside a time":     {timer.Terms{DueLocal: soon, Timezone: "UTC", DueAt: at(time.Hour)}, []string{"/due_local"}},
		"beside a delay":    {timer.Terms{DueLocal: soon, Timezone: "UTC", Delay: in(0)}, []string{"/due_local"}},
		"beside a rule":     {timer.Terms{DueLocal: soon, Timezone: "UTC", Recurrence: &recurrence.Rule{Every: in(time.Hour)}}, []string{"/recurrence"}},
		"long ago":          {timer.Terms{DueLocal: wall(t, "2026-11-20T11:59"), Timezone: "UTC"}, []string{"/due_local"}},
		"far ahead":         {timer.Terms{DueLocal: wall(t, "2036-11-21T09:00"), Timezone: "UTC"}, []string{"/due_local"}},
	} {
		_, err := timer.Admit(key, c.terms, "b-1", noon)
		require.Equal(t, c.want, pointers(err), name)
	}
}
