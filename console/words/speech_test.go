package words

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimesAndNumbers(t *testing.T) {
	t.Parallel()
	f := Speech{Lang: English, Now: time.Date(2026, 11, 26, 2, 51, 7, 0, time.UTC)}
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100000: "100,000"} {
		require.Equal(t, want, f.Num(n))
	}
	for ahead, want := range map[time.Duration]string{
		0: "in 0 ms", 90 * time.Second: "in 90 s", -5 * time.Minute: "5 min ago", 3 * time.Hour: "in 3 h", -72 * time.Hour: "3 d ago", 700 * time.Millisecond: "in 700 ms",
	} {
		require.Equal(t, want, f.Ago(f.Now.Add(ahead)))
	}
	require.Equal(t, "23:59:59 UTC", f.at(f.Now.Add(21*time.Hour+8*time.Minute+52*time.Second)))
	require.Equal(t, "2026-11-27 00:00:00 UTC", f.at(f.Now.Add(21*time.Hour+8*time.Minute+53*time.Second)))
}

var inEnglish, inChinese = &Speech{Lang: English}, &Speech{Lang: chinese}

func TestCounts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "nothing.such", English.Say("nothing.such"))
	require.NotEqual(t, English.Name(), chinese.Name())
}

// A duration of the API is said to the millisecond, in the units of the language.
func TestExactDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"24h": {"24 h", "24 小时"}, "1h30m": {"1 h 30 min", "1 小时 30 分钟"}, "90s": {"1 min 30 s", "1 分钟 30 秒"}, "1.5s": {"1 s 500 ms", "1 秒 500 毫秒"},
		"0s": {"0s", "0s"}, "soon": {"soon", "soon"},
	} {
		require.Equal(t, want, [2]string{inEnglish.Exactly(text), inChinese.Exactly(text)}, text)
	}
}

// A lateness is said to the millisecond, in units that people read.
func TestMilliseconds(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64][2]string{
		0: {"0 ms", "0 毫秒"}, 999: {"999 ms", "999 毫秒"}, 1000: {"1 s", "1 秒"}, 10_800_012: {"3 h 12 ms", "3 小时 12 毫秒"},
	} {
		require.Equal(t, want, [2]string{inEnglish.Milliseconds(ms), inChinese.Milliseconds(ms)}, ms)
	}
	late := int64(61_000)
	require.Equal(t, "1 min 1 s late", inEnglish.Late(&late))
	require.Empty(t, inEnglish.Late(nil))
}

// A rate has its thousands apart, as every number has.
func TestRates(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64][2]string{0: {"0", "0.0"}, 0.25: {"0.25", "0.2"}, 999: {"999", "999.0"}, 8000: {"8,000", "8,000.0"}, 1_234_567.5: {"1,234,567.5", "1,234,567.5"}} {
		require.Equal(t, want, [2]string{Rate(rate), Speed(rate)}, rate)
	}
	for perSecond, want := range map[float64]string{0.001: "0.06", 0.06: "3.6", 0.069: "4.14", 2: "120", 20: "1,200", 100_000: "6,000,000"} {
		require.Equal(t, want, PerMinute(perSecond))
	}
}

// A span is off by a tenth at most, and how far a time is from now is said in one unit.
func TestSpans(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	for span, want := range map[time.Duration][2]string{
		119 * time.Second: {"119 s", "in 119 s"}, 149 * time.Second: {"2 min 29 s", "in 2 min"}, 2 * time.Minute: {"2 min", "in 2 min"},
		599 * time.Second: {"9 min 59 s", "in 9 min"}, 629 * time.Second: {"10 min", "in 10 min"}, 119 * time.Minute: {"119 min", "in 119 min"},
		150 * time.Minute: {"2 h 30 min", "in 2 h"}, 59 * time.Hour: {"2 d 11 h", "in 2 d"}, 250 * time.Hour: {"10 d", "in 10 d"},
	} {
		s := Speech{Lang: English, Now: now}
		require.Equal(t, want, [2]string{s.Span(span), s.Ago(now.Add(span))}, span)
	}
	require.Equal(t, "2 分钟 29 秒", inChinese.Span(149*time.Second))
}

// A big number is short, in the units of the language.
func TestShortNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]string{
		0: {"0", "0"}, 9_999: {"9999", "9999"}, 10_000: {"10k", "1万"}, 15_999: {"15k", "1.5万"}, 999_999: {"999k", "99万"},
		1_000_000: {"1M", "100万"}, 2_550_000: {"2.5M", "255万"}, 120_000_000: {"120M", "1.2亿"},
	} {
		require.Equal(t, want, [2]string{inEnglish.Short(n), inChinese.Short(n)}, n)
	}
}

// A heading begins with a capital letter, where the language has them.
func TestHeadings(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Failed", inEnglish.Head("status.failed"))
	require.Equal(t, "失败", inChinese.Head("status.failed"))
}
