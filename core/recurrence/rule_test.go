package recurrence_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// rule parses a recurrence in a client's form.
func rule(t *testing.T, text string) (r recurrence.Rule) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &r), text)
	return r
}

func TestRecurrenceCheck(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("0,", recurrence.MaxCronLen/2) + `0 * * * *"`
	many := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	for _, c := range []struct {
		recurrence string
		want       string // pointers and codes
	}{
		{`{"cron":"30 9 * * MON-FRI"}`, ``},
		{`{"crons":["0 9 * * *","@hourly"],"timezone":"Europe/Berlin"}`, ``},
		{`{"cron":"*/5 * * * * *","seconds":true}`, ``},
		{`{"every":"1s"}`, ``},
		{`{"every":"15m","offset":"2m","start_at":"2020-01-01T00:00:00Z","end_at":"2030-01-01T00:00:00Z"}`, ``},
		{`{"after":"10m","initial_delay":"0s","max_occurrences":1,"jitter":"9m","missed":"fire_once","on_failure":"pause","paused":true}`, ``},
		{`{"cron":"0 0 29 2 */7"}`, ``}, // a Sunday: 2032
		{`{"cron":"0 12 * * *","exclude":["2027-12-25","* * * * SAT,SUN"],"missed":"skip","jitter":"23h"}`, ``},

		{`{}`, `/cron required`},
		{`{"seconds":true}`, `/cron required /seconds conflict`},
		{`{"cron":"* * * * *","every":"1m"}`, `/every conflict`},
		{`{"cron":"* * * * *","crons":["* * * * *"],"every":"1m","after":"1m"}`, `/crons conflict /every conflict /after conflict`},
		{`{"cron":""}`, `/cron invalid-recurrence`},
		{`{"cron":"* * * *"}`, `/cron invalid-recurrence`},
		{`{"cron":"* * * * * 1"}`, `/cron invalid-recurrence`},
		{`{"cron":"* * * * * *"}`, ``},
		{`{"cron":"0 0 12 ? * 2-6","dialect":"quartz"}`, ``},
		{`{"cron":"0 0 12 * * 2-6","dialect":"quartz"}`, `/cron invalid-recurrence`},
		{`{"cron":"0 0 12 ? * 2-6","dialect":"jenkins"}`, `/dialect invalid-recurrence`},
		{`{"every":"1m","dialect":"quartz"}`, `/dialect conflict`},
		{`{"cron":"* * * * *","seconds":true}`, `/cron invalid-recurrence`},
		{`{"cron":"@every 1h"}`, `/cron invalid-recurrence`},
		{`{"cron":"@reboot"}`, `/cron invalid-recurrence`},
		{`{"cron":"TZ=UTC * * * * *"}`, `/cron invalid-recurrence`},
		{`{"cron":"CRON_TZ= * * * * *"}`, `/cron invalid-recurrence`},
		{`{"cron":"TZ="}`, `/cron invalid-recurrence`},
		{`{"cron":` + long + `}`, `/cron invalid-recurrence`},
		{`{"crons":[]}`, `/crons required`},
		{`{"crons":["0 0 * * *","0 24 * * *","x"]}`, `/crons/1 invalid-recurrence /crons/2 invalid-recurrence`},
		{`{"crons":[` + many(`"* * * * *"`, recurrence.MaxCrons+1) + `]}`, `/crons too-large`},
		{`{"cron":"0 0 30 2 *"}`, `/cron invalid-recurrence`},
		{`{"cron":"0 0 31 2,4,6,9,11 *"}`, `/cron invalid-recurrence`},
		{`{"crons":["0 0 * * *","0 0 30 2 *"]}`, `/crons/1 invalid-recurrence`},
		{`{"every":"0s"}`, `/every out-of-range`},
		{`{"every":"1h","max_occurrences":1000000000}`, ``},
		{`{"every":"1h","max_occurrences":1000000001}`, `/max_occurrences out-of-range`},
		{`{"every":"-1h"}`, `/every out-of-range`},
		{`{"every":"999ms"}`, `/every out-of-range`},
		{`{"every":"1000000001ns"}`, `/every out-of-range`},
		{`{"after":"87600h1ms"}`, `/after out-of-range`},
		{`{"every":"1m","offset":"1m"}`, `/offset out-of-range`},
		{`{"every":"1m","offset":"-1s"}`, `/offset out-of-range`},
		{`{"after":"1m","offset":"1s"}`, `/offset conflict`},
		{`{"every":"1m","seconds":true}`, `/seconds conflict`},
		{`{"cron":"* * * * *","timezone":"Mars/Olympus"}`, `/timezone invalid-recurrence`},
		{`{"cron":"* * * * *","timezone":"Local"}`, `/timezone invalid-recurrence`},
		{`{"cron":"* * * * *","timezone":"../etc/passwd"}`, `/timezone invalid-recurrence`},
		{`{"every":"1m","initial_delay":"1m","start_at":"2030-01-01T00:00:00Z"}`, `/initial_delay conflict`},
		{`{"every":"1m","initial_delay":"-1s"}`, `/initial_delay out-of-range`},
		{`{"every":"1m","start_at":"2040-01-01T00:00:00Z"}`, `/start_at out-of-range`},
		{`{"every":"1m","end_at":"2020-01-01T00:00:00Z"}`, `/end_at out-of-range`},
		{`{"every":"1m","start_at":"2030-01-01T00:00:00Z","end_at":"2029-01-01T00:00:00Z"}`, `/end_at out-of-range`},
		{`{"cron":"0 0 1 1 *","end_at":"2026-12-31T23:59:59Z"}`, `/end_at out-of-range`},
		{`{"every":"1m","initial_delay":"48h","end_at":"2026-11-22T00:00:00Z"}`, `/end_at out-of-range`},
		{`{"every":"1m","max_occurrences":0}`, `/max_occurrences out-of-range`},
		{`{"every":"1m","jitter":"1m"}`, `/jitter out-of-range`},
		{`{"every":"1m","jitter":"-1s"}`, `/jitter out-of-range`},
		{`{"crons":["0 0 * * *","5 0 1 1 *"],"jitter":"5m"}`, `/jitter out-of-range`},
		{`{"every":"1m","missed":"never"}`, `/missed invalid-recurrence`},
		{`{"after":"1m","missed":"skip"}`, `/missed conflict`},
		{`{"every":"1m","on_failure":"explode"}`, `/on_failure invalid-recurrence`},
		{`{"every":"1m","exclude":["2027-02-29","soon","* * * * * *"]}`, `/exclude/0 invalid-recurrence /exclude/1 invalid-recurrence /exclude/2 invalid-recurrence`},
		{`{"every":"1m","exclude":[` + many(`"2027-12-25"`, recurrence.MaxExcludes+1) + `]}`, `/exclude too-large`},
		{`{"every":"1m","exclude":["* * * * *"]}`, `/exclude invalid-recurrence`},
		{`{"cron":"0 9 * * MON","exclude":["* * * * 1"]}`, `/exclude invalid-recurrence`},
		{`{"every":"1h","offset":"30m","exclude":["30 * * * *"]}`, `/exclude invalid-recurrence`},
		{`{"cron":"61 * * * *","every":"1ms","timezone":"x","max_occurrences":-1,"exclude":["y"],"missed":"z"}`,
			`/every conflict /cron invalid-recurrence /every out-of-range /timezone invalid-recurrence /exclude/0 invalid-recurrence ` +
				`/max_occurrences out-of-range /missed invalid-recurrence`},
	} {
		var got []string
		for _, fieldErr := range rule(t, c.recurrence).Check(noon) {
			require.NotEmpty(t, fieldErr.Detail)
			got = append(got, fieldErr.Pointer+" "+string(fieldErr.Code))
		}
		require.Equal(t, c.want, strings.Join(got, " "), c.recurrence)
	}
}

func TestRecurrenceReadsBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"cron":"0 0 * * *"}`, `{"every":"15m","offset":"0s"}`,
		`{"crons":["0 0 0 * * *"],"seconds":true,"timezone":"Europe/Berlin","initial_delay":"0s","end_at":"2030-01-01T00:00:00.000Z",` +
			`"max_occurrences":5,"jitter":"1s","exclude":["2027-12-25"],"missed":"skip","on_failure":"pause","paused":true}`,
		`{"after":"1s","start_at":"2030-01-01T00:00:00.000Z"}`,
	} {
		raw, err := json.Marshal(rule(t, text))
		require.NoError(t, err)
		require.JSONEq(t, text, string(raw))
	}
}

// day returns the time of day of instants.
func day(times ...wire.Instant) (clock []string) {
	for _, at := range times {
		clock = append(clock, at.Time().Format("02T15:04:05.999"))
	}
	return clock
}

func TestUpcoming(t *testing.T) {
	t.Parallel()
	// noon is 2026-11-21T12:00:00Z, a Saturday.
	for _, c := range []struct{ recurrence, want string }{
		{`{"every":"90m"}`, "21T13:30:00 21T15:00:00 21T16:30:00"},
		{`{"every":"90m","initial_delay":"0s"}`, "21T12:00:00 21T13:30:00 21T15:00:00"},
		{`{"every":"90m","initial_delay":"10m"}`, "21T12:10:00 21T13:40:00 21T15:10:00"},
		{`{"every":"90m","start_at":"2026-11-21T18:00:00Z"}`, "21T18:00:00 21T19:30:00 21T21:00:00"},
		{`{"every":"90m","start_at":"2026-11-21T11:00:00Z"}`, "21T12:30:00 21T14:00:00 21T15:30:00"},
		{`{"every":"15m","offset":"2m"}`, "21T12:02:00 21T12:17:00 21T12:32:00"},
		{`{"every":"15m","offset":"0s"}`, "21T12:00:00 21T12:15:00 21T12:30:00"},
		{`{"every":"15m","offset":"2m","initial_delay":"1h"}`, "21T13:02:00 21T13:17:00 21T13:32:00"},
		{`{"every":"1.5s"}`, "21T12:00:01.5 21T12:00:03 21T12:00:04.5"},
		{`{"after":"10m"}`, "21T12:10:00 21T12:20:00 21T12:30:00"},
		{`{"after":"10m","initial_delay":"1m"}`, "21T12:01:00 21T12:11:00 21T12:21:00"},
		{`{"after":"10m","start_at":"2026-11-21T11:00:00Z"}`, "21T12:00:00 21T12:10:00 21T12:20:00"},
		{`{"cron":"0 12 * * *"}`, "21T12:00:00 22T12:00:00 23T12:00:00"},
		{`{"cron":"0 9 * * *","timezone":"America/New_York"}`, "21T14:00:00 22T14:00:00 23T14:00:00"},
		{`{"cron":"0 9 * * *","start_at":"2026-11-23T09:00:00Z"}`, "23T09:00:00 24T09:00:00 25T09:00:00"},
		{`{"cron":"*/20 * * * * *","seconds":true}`, "21T12:00:00 21T12:00:20 21T12:00:40"},
		{`{"crons":["0 13 * * *","30 12 * * *","30 12 21 * *"]}`, "21T12:30:00 21T13:00:00 22T12:30:00"},
		{`{"cron":"0 * * * *","max_occurrences":2}`, "21T12:00:00 21T13:00:00"},
		{`{"cron":"0 * * * *","end_at":"2026-11-21T13:00:00Z"}`, "21T12:00:00 21T13:00:00"},
		{`{"cron":"0 9 * * *","exclude":["* * * * SUN","2026-11-24"]}`, "23T09:00:00 25T09:00:00 26T09:00:00"},
		{`{"cron":"0 0 * * *","timezone":"Europe/Berlin","exclude":["2026-11-22"]}`, "22T23:00:00 23T23:00:00 24T23:00:00"},
		{`{"cron":"*/30 * * * * *","seconds":true,"exclude":["1 * * * *"]}`, "21T12:00:00 21T12:00:30 21T12:02:00"},
		{`{"every":"20m","exclude":["* 12-14 * * *"]}`, "21T15:00:00 21T15:20:00 21T15:40:00"},
		{`{"after":"20m","exclude":["* 12 * * *"]}`, "21T13:00:00 21T13:20:00 21T13:40:00"},
		{`{"every":"1s","exclude":["* * 21-30 11 *","* * * 12 *"]}`, "01T00:00:00 01T00:00:01 01T00:00:02"},
	} {
		r := rule(t, c.recurrence)
		require.Empty(t, r.Check(noon), c.recurrence)
		require.Equal(t, strings.Fields(c.want), day(r.Upcoming(recurrence.Cursor{Booked: wire.At(noon)}, 3)...), c.recurrence)
	}
}

func TestNextFollowsTheRule(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"cron":"*/7 * * * *"}`, `{"every":"90s"}`, `{"every":"15m","offset":"2m","max_occurrences":40}`} {
		r, c := rule(t, text), recurrence.Cursor{Booked: wire.At(noon)}
		var rung []wire.Instant
		for range 50 {
			o, ok := r.Next(c, c.Last) // asked at the time of the last ring
			if !ok {
				break
			}
			require.Equal(t, len(rung)+1, o.Number)
			require.Zero(t, o.Skipped)
			rung = append(rung, o.Nominal)
			c = c.Past(o, o.Nominal.Add(time.Second))
		}
		require.Equal(t, r.Upcoming(recurrence.Cursor{Booked: wire.At(noon)}, 50), rung, text)
	}
}

func TestFixedDelayCountsFromTheEnd(t *testing.T) {
	t.Parallel()
	r, c := rule(t, `{"after":"10m"}`), recurrence.Cursor{Booked: wire.At(noon)}
	o, ok := r.Next(c, c.Booked)
	require.True(t, ok)
	require.Equal(t, *at(10 * time.Minute), o.Nominal)
	c = c.Past(o, *at(13 * time.Minute))
	o, ok = r.Next(c, *at(5 * time.Hour))
	require.True(t, ok)
	require.Equal(t, recurrence.Occurrence{Number: 2, Nominal: *at(23 * time.Minute)}, o, "overdue, and nothing was missed")
	o, _ = r.Next(c.Resumed(*at(time.Hour)), *at(time.Hour))
	require.Equal(t, *at(70 * time.Minute), o.Nominal)
}

func TestMissed(t *testing.T) {
	t.Parallel()
	late := func(d time.Duration) wire.Instant { return *at(d) }
	for _, c := range []struct {
		missed      string
		now, want   wire.Instant
		skipped     int
		description string
	}{
		// Every hour from 13:00; the last ring was at 15:00.
		{"", late(3*time.Hour + 59*time.Minute), late(4 * time.Hour), 0, "ahead"},
		{"", late(4 * time.Hour), late(4 * time.Hour), 0, "due"},
		{"", late(4*time.Hour + 50*time.Minute), late(4 * time.Hour), 0, "one missed"},
		{"fire_once", late(8*time.Hour + time.Minute), late(8 * time.Hour), 4, "the latest"},
		{"fire_once", late(8 * time.Hour), late(8 * time.Hour), 4, "the latest is due now"},
		{"skip", late(4*time.Hour + time.Minute), late(4 * time.Hour), 0, "within the grace"},
		{"skip", late(4*time.Hour + time.Minute + time.Millisecond), late(5 * time.Hour), 1, "past the grace"},
		{"skip", late(8*time.Hour + 30*time.Second), late(8 * time.Hour), 4, "the latest within the grace"},
		{"skip", late(8*time.Hour + 30*time.Minute), late(9 * time.Hour), 5, "in the future"},
		{"skip", late(8 * time.Hour), late(8 * time.Hour), 4, "due now"},
		{"fire_all", late(8*time.Hour + time.Minute), late(4 * time.Hour), 0, "each in turn"},
		{"fire_all", late(103 * time.Hour), late(4 * time.Hour), 0, "as many as are made up for"},
		{"fire_all", late(104 * time.Hour), late(5 * time.Hour), 1, "one too many"},
		{"fire_all", late(1003 * time.Hour), late(904 * time.Hour), 900, "the newest"},
	} {
		for _, form := range []string{`{"every":"1h","missed":"` + c.missed + `"}`, `{"cron":"0 * * * *","missed":"` + c.missed + `"}`} {
			o, ok := rule(t, form).Next(recurrence.Cursor{Booked: wire.At(noon), Last: late(3 * time.Hour), Rung: 3}, c.now)
			require.True(t, ok)
			require.Equal(t, recurrence.Occurrence{Number: 4, Nominal: c.want, Skipped: c.skipped}, o, "%s at %s: %s", form, c.now, c.description)
		}
	}
}

// After any outage, fire_all rings every missed occurrence once, oldest first.
func TestFireAllRingsEachOnce(t *testing.T) {
	t.Parallel()
	r, now := rule(t, `{"every":"1m","missed":"fire_all"}`), *at(3 * time.Hour)
	c := recurrence.Cursor{Booked: wire.At(noon)}
	var rung []wire.Instant
	skipped := 0
	for {
		o, ok := r.Next(c, now)
		require.True(t, ok)
		if o.Nominal > now {
			break
		}
		rung, skipped = append(rung, o.Nominal), skipped+o.Skipped
		c = c.Past(o, now)
	}
	require.Len(t, rung, recurrence.MaxMadeUp)
	require.Equal(t, 80, skipped)
	require.True(t, slices.IsSorted(rung))
	require.Equal(t, now, rung[len(rung)-1])
}

func TestTheEnd(t *testing.T) {
	t.Parallel()
	booked := recurrence.Cursor{Booked: wire.At(noon)}
	r := rule(t, `{"every":"1h","end_at":"2026-11-21T15:00:00Z","missed":"skip"}`)
	o, ok := r.Next(booked, *at(10 * time.Hour))
	require.False(t, ok)
	require.Equal(t, 3, o.Skipped)
	r.Missed = recurrence.MissedFireOnce
	o, ok = r.Next(booked, *at(10 * time.Hour))
	require.True(t, ok, "what was missed before the end rings after it")
	require.Equal(t, *at(3 * time.Hour), o.Nominal)
	_, ok = r.Next(booked.Past(o, *at(10 * time.Hour)), *at(10 * time.Hour))
	require.False(t, ok)

	r = rule(t, `{"every":"1h","max_occurrences":2}`)
	_, ok = r.Next(recurrence.Cursor{Booked: wire.At(noon), Rung: 1}, wire.At(noon))
	require.True(t, ok)
	_, ok = r.Next(recurrence.Cursor{Booked: wire.At(noon), Rung: 2}, wire.At(noon))
	require.False(t, ok)
	require.Empty(t, r.Upcoming(recurrence.Cursor{Booked: wire.At(noon), Rung: 3}, 5))
}

func TestResumedDropsThePause(t *testing.T) {
	t.Parallel()
	r := rule(t, `{"every":"1h","missed":"fire_all"}`)
	c := recurrence.Cursor{Booked: wire.At(noon), Last: *at(time.Hour), Rung: 1}
	o, ok := r.Next(c.Resumed(*at(5*time.Hour + time.Minute)), *at(5*time.Hour + time.Minute))
	require.True(t, ok)
	require.Equal(t, recurrence.Occurrence{Number: 2, Nominal: *at(6 * time.Hour)}, o, "on the grid of the booking")
}

// Jitter always moves the ring in the same way, and never the nominal time.
func TestRecurrenceJitter(t *testing.T) {
	t.Parallel()
	r := rule(t, `{"every":"1h","jitter":"10m"}`)
	nominal := *at(time.Hour)
	require.Equal(t, r.RingAt(nominal, "b-1"), r.RingAt(nominal, "b-1"))
	require.NotEqual(t, r.RingAt(nominal, "b-1"), r.RingAt(nominal, "b-2"))
	require.NotEqual(t, r.RingAt(nominal, "b-1")-nominal, r.RingAt(nominal.Add(time.Hour), "b-1")-nominal.Add(time.Hour))
	var least, most, sum wire.Instant = 1 << 60, 0, 0
	const rings = 10_000
	for i := range rings {
		nominal := nominal.Add(time.Duration(i) * time.Hour)
		late := r.RingAt(nominal, "b-1") - nominal
		least, most, sum = min(least, late), max(most, late), sum+late
	}
	limit := wire.Instant((10 * time.Minute).Milliseconds())
	require.GreaterOrEqual(t, least, wire.Instant(0))
	require.Less(t, most, limit)
	require.Greater(t, most, limit*99/100, "spread over all of it")
	require.InDelta(t, float64(limit)/2, float64(sum)/rings, float64(limit)/50, "evenly")
	r.Jitter = 0
	require.Equal(t, nominal, r.RingAt(nominal, "b-1"))
}

// The shortest interval of cron expressions is tested in calendar.
func TestMinInterval(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		`{"every":"90s"}`:                                             90 * time.Second,
		`{"every":"90s","offset":"1s"}`:                               90 * time.Second,
		`{"after":"2m"}`:                                              2 * time.Minute,
		`{"cron":"0 0 * * *","timezone":"Europe/Berlin"}`:             23 * time.Hour,
		`{"crons":["0 0 * * *","5 0 1 1 *"],"exclude":["* * * * *"]}`: 5 * time.Minute,
		`{"cron":"0 0 29 2 */7"}`:                                     wire.MaxAhead,
	} {
		require.Equal(t, want, rule(t, text).MinInterval(), text)
	}
}

// An unchecked rule never rings, and does no harm.
func TestUncheckedRules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"cron":"TZ="}`, `{"cron":"0 0 30 2 *"}`, `{"every":"1m","timezone":"x"}`, `{"every":"1m","exclude":["x"]}`, `{"every":"0s"}`, `{"every":"1us"}`} {
		_, ok := rule(t, text).Next(recurrence.Cursor{Booked: wire.At(noon)}, wire.At(noon))
		require.False(t, ok, text)
		require.Empty(t, rule(t, text).Upcoming(recurrence.Cursor{Booked: wire.At(noon)}, 5), text)
	}
}
