package types

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
)

// The last day of a type is a picture for who sees it, and a sentence for who does not.
func TestTheDayInWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 2, 51, 7, 0, time.UTC)
	hour := func(n int) time.Time { return now.Truncate(words.Hour).Add(time.Duration(n) * words.Hour) }
	in := words.Speech{Lang: words.English, Now: now}
	require.Empty(t, TypeRow{}.Day(in))
	calm := TypeRow{Past: &watch.Past{Hours: []calls.OutcomeStep{{At: hour(-1), Delivered: 1200}, {At: hour(0), Expired: 3}}}}
	require.EqualValues(t, "1,200 delivered, 0 failed, 3 expired", calm.Day(in))
	bad := TypeRow{Past: &watch.Past{Hours: []calls.OutcomeStep{
		{At: hour(-9), Failed: 4}, {At: hour(-1), Delivered: 5, Failed: 7}, {At: hour(0), Failed: 7},
	}}}
	const one = `<time datetime="2026-11-26T01:00:00.000Z" title="2026-11-26 01:00:00 UTC">01:00 UTC</time>`
	require.EqualValues(t, "5 delivered, 18 failed, 0 expired; most failed in the hour from "+one, bad.Day(in))
	in.Lang = words.Language("zh-CN")
	require.EqualValues(t, "投递 5 个，失败 18 个，过期 0 个；失败最多的一小时始于 "+one, bad.Day(in))
}

// All on time is said of all only.
func TestTheShareOnTime(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{1: "100.00 %", 0.999_999: "99.99 %", 0.999_9: "99.99 %", 0.987_66: "98.77 %", 0.57: "57.00 %", 0: "0.00 %"} {
		row := TypeRow{Past: &watch.Past{Recorded: &calls.Objective{Share: &share}}}
		require.Equal(t, want, row.OnTime(), share)
	}
	require.Empty(t, TypeRow{Past: &watch.Past{Recorded: &calls.Objective{}}}.OnTime(), "none rang")
}
