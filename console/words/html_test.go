package words

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An instant is an element that says UTC, as short as it is clear.
func TestInstantsAreElements(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 2, 51, 7, 0, time.UTC)
	s := Speech{Lang: English, Now: now}
	const start = `<time datetime="2026-11-26T02:51:07.000Z" title="2026-11-26 02:51:07 UTC">`
	for _, at := range []time.Time{now, now.In(time.FixedZone("", 9*3600))} {
		require.EqualValues(t, start+"02:51:07 UTC</time>", s.Time(at))
		require.EqualValues(t, start+"02:51 UTC</time>", s.Moment(at))
	}
	s.Now = now.Add(Day)
	require.EqualValues(t, start+"2026-11-26 02:51:07 UTC</time>", s.Time(now))
	require.EqualValues(t, start+"11-26 02:51 UTC</time>", s.Moment(now))
}

// What is told has its values in the language. None of them is markup but what is made here.
func TestWhatIsToldIsHTML(t *testing.T) {
	t.Parallel()
	s := Speech{Lang: English, Now: time.Unix(1e9, 0)}
	require.EqualValues(t, "&lt;b&gt; is paused by a&amp;b since "+s.Time(s.Now)+".", s.HTML("strip.type", "<b>", "a&b", s.Now))
	require.EqualValues(t, "3,000 due, 90 s late, at "+s.Moment(s.Now), s.HTML("ahead.short", 3000, 90*time.Second, s.Moment(s.Now)))
	require.EqualValues(t, "nothing.&lt;such&gt;", s.HTML("nothing.<such>"), "a key that is no text")
	require.Equal(t, "&#34;a&#34; "+s.Time(s.Now), Together(Plain(`"a"`), s.Time(s.Now)))
	require.Empty(t, Together())
}
