package chart

import (
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/words"
)

var now = time.Date(2026, 11, 26, 2, 51, 7, 0, time.UTC)

// at is so many minutes from the beginning of the next minute, where what is to come begins.
func at(minutes int) time.Time {
	return now.Truncate(time.Minute).Add(time.Duration(minutes+1) * time.Minute)
}

func ms(n float64) *float64 { return &n }

// drawn has two minutes of the past and two ahead in it.
func drawn() *Plots {
	p, limit := New(RangeNamed("1h", now), now, "type:a"), 10.0
	p.AddPast(&calls.Outcomes{LatenessFrom: "node", CountedAt: now, Steps: []calls.OutcomeStep{
		{At: at(-3), Delivered: 99}, // a minute that was not counted whole
		{At: at(-2), Counted: true, Delivered: 300, Failed: 100, Expired: 50, Retried: 50, P50: ms(2), P99: ms(40), Worst: ms(900)},
		{At: at(-1), Counted: true, Delivered: 10, P50: ms(1), P99: ms(10), Worst: ms(10)},
		{At: at(-200), Delivered: 7}, {At: at(0), Delivered: 7},
	}}, now)
	p.AddAhead(&calls.Forecast{CallbacksPerSecond: &limit, Steps: []calls.Step{
		{At: at(-1), Due: 9}, {At: at(0), Due: 900, DispatchItems: 100, Lateness: "40s"}, {At: at(1), Due: 600}, {At: at(600), Due: 9},
	}})
	p.Scale(1)
	return p
}

// What has been stands left of now, and what is to come right of it, over one axis.
func TestOneAxisForPastAndAhead(t *testing.T) {
	t.Parallel()
	p := drawn()
	require.Len(t, p.Columns, 120)
	require.InDelta(t, plotWidth/2, p.NowX(), 0.01)
	require.Equal(t, 450, p.column(at(-2)).Delivered+p.column(at(-2)).Failed+p.column(at(-2)).Expired)
	require.Equal(t, 1000, p.column(at(0)).Due)
	require.Equal(t, 400, p.column(at(0)).Over, "600 a minute are let through")
	require.Zero(t, p.column(at(0)).Delivered)
	require.Zero(t, p.column(at(-1)).Due)
	require.Equal(t, 1000, p.Most)
	require.InDelta(t, 100_000, p.Slowest, 0.1, "40 s, and up to the next power of ten")
	require.InDelta(t, plotHeight*0.4, p.LimitY(), 0.01)
	require.True(t, p.Uncounted)
	require.Contains(t, p.column(at(-2)).Link, "type%3Aa+ended%3A2026-11-26T02%3A50%3A00.000Z..2026-11-26T02%3A51%3A00.000Z")
	require.Contains(t, p.column(at(0)).Link, "type%3Aa+due%3A2026-11-26T02%3A52%3A00.000Z..2026-11-26T02%3A53%3A00.000Z")
}

// What ended is stacked without a gap, and fills what it should.
func TestBoxesAreStacked(t *testing.T) {
	t.Parallel()
	p := drawn()
	sum, last := 0.0, plotHeight
	for _, box := range p.Counts() {
		if box.X != p.x(58) { // the last but one minute of the past
			continue
		}
		require.InDelta(t, last, box.Y+box.Height, 0.02, box.Class)
		sum, last = sum+box.Height, box.Y
	}
	require.InDelta(t, plotHeight*0.5, sum, 0.1, "500 of 1,000")
	over := 0
	for _, box := range p.Counts() {
		if box.Class == "over" {
			over++
		}
	}
	require.Equal(t, 1, over)
}

// Lateness has an axis of powers of ten, and a line ends where nothing rang.
func TestLatenessIsLogarithmic(t *testing.T) {
	t.Parallel()
	p := drawn()
	require.InDelta(t, plotHeight, p.lateY(0.2), 0.01, "less than a millisecond stands at the foot")
	require.InDelta(t, plotHeight*0.4, p.lateY(1000), 0.01)
	require.InDelta(t, 0, p.lateY(100_000), 0.01)
	require.Equal(t, []time.Duration{100 * time.Second, 10 * time.Second, time.Second, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond}, p.Decades())
	require.Equal(t, 1, strings.Count(p.P50(), "M"), "two minutes side by side are one line")
	require.Len(t, p.Expected(), 1)
	require.Len(t, p.Ticks(), 5)
	require.Equal(t, p.To, p.Ticks()[4])
}

// What a limit lets through to the last one does not lie above it.
func TestALimitThatIsUsedUp(t *testing.T) {
	t.Parallel()
	for limit, due := range map[float64]int{4.1: 246, 2: 120, 0.5: 30, 0.01: 0} {
		for more := range 2 {
			p := New(RangeNamed("1h", now), now, "")
			p.AddAhead(&calls.Forecast{CallbacksPerSecond: &limit, Steps: []calls.Step{{At: at(0), Due: due + more}}})
			require.Equal(t, more, p.column(at(0)).Over, "%d at %g a second", due+more, limit)
		}
	}
}

// Of several types there is no limit to be drawn, and what overflows is the sum.
func TestSeveralTypes(t *testing.T) {
	t.Parallel()
	p := New(RangeNamed("24h", now), now, "")
	none, low, high := 0.0, 1.0, 100.0
	p.AddAhead(&calls.Forecast{CallbacksPerSecond: &low, Steps: []calls.Step{{At: at(0), Due: 2000}}})
	p.AddAhead(&calls.Forecast{CallbacksPerSecond: &high, Steps: []calls.Step{{At: at(0), Due: 2000}}})
	p.AddAhead(&calls.Forecast{Steps: []calls.Step{{At: at(0), Due: 1}}})
	p.AddAhead(&calls.Forecast{CallbacksPerSecond: &none, Steps: []calls.Step{{At: at(0), Due: 5}}})
	p.Scale(4)
	require.Equal(t, 4006, p.column(at(0)).Due)
	require.Equal(t, 805, p.column(at(0)).Over, "without a limit nothing overflows, and with one of 0 everything does")
	require.Negative(t, p.LimitY())
}

// said is a sentence as it reads.
func said(sentence template.HTML) string {
	return regexp.MustCompile(`</?time[^>]*>`).ReplaceAllString(string(sentence), "")
}

func TestPlotsSayTheirGist(t *testing.T) {
	t.Parallel()
	in := words.Speech{Lang: words.English, Now: now}
	p := drawn()
	require.Equal(t, "In the last 60 min, 559 ended, 100 of them failed. 50 calls were repeated. The latest rang 900 ms late. In the next 60 min, 1,600 fall due. "+
		"400 that fall due are above the limit. At 02:52:00 UTC the limit is too low: the last one is 40 s late.", said(p.Gist(in)))
	require.Equal(t, "Lateness is that of this node only. Not every minute is counted yet.", p.Source(in))
	require.Len(t, p.Filled(), 5)
	require.Equal(t, "2026-11-26 02:52:00 UTC: 1,000 due, 400 above the limit, 40 s late", p.column(at(0)).Says(in))
	require.Equal(t, "2026-11-26 02:53:00 UTC: 600 due", p.column(at(1)).Says(in))
	require.Equal(t, "2026-11-26 02:50:00 UTC: 300 delivered, 100 failed, 50 expired, 50 tried again; late by 2.0 ms in the middle, 40 ms for 99 of 100, 900 ms at most", p.column(at(-2)).Says(in))
	p.Uncounted, p.LatenessFrom = false, "unanswered"
	require.Equal(t, "Prometheus does not answer: lateness is that of this node, if it makes attempts.", p.Source(in))
	p.Recurs = true
	require.Equal(t, "Prometheus does not answer: lateness is that of this node, if it makes attempts. A recurring timer counts here when it ends, and not at each occurrence.", p.Source(in))
	empty := New(RangeNamed("7d", now), now, "")
	empty.Scale(1)
	require.Empty(t, empty.Filled())
	require.Empty(t, empty.Counts())
	require.Equal(t, "In the next 7 d, 0 fall due.", said(empty.Gist(in)))
	empty.Columns[0].Due = 1
	require.Equal(t, "In the next 7 d, 1 falls due.", said(empty.Gist(in)))
	empty.Range.Zoomed = true
	require.Contains(t, said(empty.Gist(in)), "0 ended, 0 of them failed, 1 falls due.")
	require.Equal(t, RangeNamed("1h", now), RangeNamed("no such", now))
}

// What is not read is not zero: neither of what has been nor of what is to come, also where a user has zoomed in.
func TestWhatIsNotReadIsNotZero(t *testing.T) {
	t.Parallel()
	in := words.Speech{Lang: words.English, Now: now}
	past, ahead := &calls.Outcomes{Steps: []calls.OutcomeStep{{At: at(-2), Counted: true, Failed: 3, Retried: 1}}}, &calls.Forecast{Steps: []calls.Step{{At: at(1), Due: 7}}}
	zoomed := words.ISO(at(-10)) + ".." + words.ISO(at(20))
	for name, c := range map[string]struct {
		key          string
		past, ahead  bool
		want, source string
	}{
		"both":                {"1h", true, true, "In the last 60 min, 3 ended, 3 of them failed. 1 call was repeated. In the next 60 min, 7 fall due.", ""},
		"the past only":       {"1h", true, false, "In the last 60 min, 3 ended, 3 of them failed. 1 call was repeated.", "Not all that falls due can be read now."},
		"what is to come":     {"1h", false, true, "In the next 60 min, 7 fall due.", "What has been cannot be read now."},
		"neither":             {"1h", false, false, "", "What has been cannot be read now. Not all that falls due can be read now."},
		"zoomed, both":        {zoomed, true, true, "From 02:42:00 UTC to 03:12:00 UTC: 3 ended, 3 of them failed, 7 fall due. 1 call was repeated.", ""},
		"zoomed, the past":    {zoomed, true, false, "In the last 10 min, 3 ended, 3 of them failed. 1 call was repeated.", "Not all that falls due can be read now."},
		"zoomed, the rest":    {zoomed, false, true, "In the next 20 min, 7 fall due.", "What has been cannot be read now."},
		"zoomed, and neither": {zoomed, false, false, "", "What has been cannot be read now. Not all that falls due can be read now."},
	} {
		p := New(RangeNamed(c.key, now), now, "")
		if p.Unread = !c.past; c.past {
			p.AddPast(past, now)
		}
		if p.AheadUnread = !c.ahead; c.ahead {
			p.AddAhead(ahead)
		}
		p.Scale(1)
		p.Uncounted = false
		require.Equal(t, c.want, said(p.Gist(in)), name)
		require.Equal(t, c.source, p.Source(in), name)
	}
	p := drawn()
	p.AheadUnread = true // of one type of several
	require.Contains(t, said(p.Gist(in)), "In the next 60 min, 1,600 fall due.")
	p.Coming = true
	require.NotContains(t, p.Source(in), "falls due", "it appears by itself")
}

// A user may choose the ends. A column still begins with now, and no picture has more columns than
// the widest of the ranges.
func TestZoom(t *testing.T) {
	t.Parallel()
	key := func(from, to int) string { return words.ISO(at(from)) + ".." + words.ISO(at(to)) }
	for name, c := range map[string]struct {
		key      string
		from, to int
		step     time.Duration
	}{
		"around now":               {key(-10, 20), -10, 20, words.Minute},
		"in the past":              {key(-50, -20), -50, -20, words.Minute},
		"ahead":                    {key(20, 90), 20, 90, words.Minute},
		"long":                     {key(-301, 20), -303, 21, 3 * words.Minute},
		"more than is counted":     {key(-3000, -1000), -1440, -1000, 4 * words.Minute},
		"more than is foreseen":    {key(10000, 99999), 10000, 7 * 1440, words.Minute},
		"before what is counted":   {key(-3000, -2000), -60, 60, words.Minute},
		"after what is foreseen":   {key(20000, 20001), -60, 60, words.Minute},
		"ends before it begins":    {key(20, 10), -60, 60, words.Minute},
		"not two times":            {"a..b", -60, 60, words.Minute},
		"one time":                 {words.ISO(at(1)), -60, 60, words.Minute},
		"a time that is no moment": {"2026-11-26T25:00:00Z..2026-11-26T26:00:00Z", -60, 60, words.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := New(RangeNamed(c.key, now), now, "")
			require.Equal(t, at(c.from), p.From)
			require.Equal(t, at(c.to), p.To)
			require.Equal(t, c.step, p.Range.Step)
			require.LessOrEqual(t, len(p.Columns), 122)
			require.True(t, p.NowX() >= 0 && p.NowX() <= plotWidth)
			if c.from < 0 && c.to > 0 {
				require.Equal(t, p.Now, p.Columns[int(p.Now.Sub(p.From)/c.step)].At, "a column begins with now")
			}
		})
	}
	p := New(RangeNamed(key(-10, 20), now), now, "")
	p.AddAhead(&calls.Forecast{Steps: []calls.Step{{At: at(5), Due: 7}}})
	p.Scale(1)
	require.Equal(t, "From 02:42:00 UTC to 03:12:00 UTC: 0 ended, 0 of them failed, 7 fall due.", said(p.Gist(words.Speech{Lang: words.English, Now: now})))
}

// The plots say when the ends were counted where that is long ago, and where latenesses are known before them.
func TestTheAgeOfCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age   time.Duration
		step  calls.OutcomeStep
		shown bool
	}{
		"fresh":                     {10 * time.Second, calls.OutcomeStep{Delivered: 1, Worst: ms(68)}, false},
		"fresh, and nothing rang":   {10 * time.Second, calls.OutcomeStep{}, false},
		"fresh, and one rang since": {10 * time.Second, calls.OutcomeStep{Worst: ms(68)}, true},
		"old":                       {40 * time.Second, calls.OutcomeStep{Delivered: 1, Worst: ms(68)}, true},
	} {
		p, counted := New(Ranges()[0], now, ""), now.Add(-c.age)
		c.step.At, c.step.Counted = at(-1), true
		p.AddPast(&calls.Outcomes{CountedAt: counted, Steps: []calls.OutcomeStep{c.step}}, now)
		var want time.Time
		if c.shown {
			want = counted
		}
		require.Equal(t, want, p.Asof(), name)
	}
	require.Zero(t, New(Ranges()[0], now, "").Asof(), "the past cannot be read")
}

// A spark line is as high as its fullest step, with what failed at its foot.
func TestSparks(t *testing.T) {
	t.Parallel()
	boxes := Spark([]calls.OutcomeStep{{}, {Delivered: 3, Failed: 1}, {Expired: 2}, {}})
	require.Len(t, boxes, 3)
	require.Equal(t, Box{"failed", 24, 15, 23.5, 5}, boxes[0])
	require.Equal(t, Box{"delivered", 24, 0, 23.5, 15}, boxes[1])
	require.Equal(t, Box{"expired", 48, 10, 23.5, 10}, boxes[2])
	require.Empty(t, Spark(nil))
}

// A minute in which timers were tried in vain leads to those: they have not ended.
func TestAMinuteOfRetriesLeadsToThem(t *testing.T) {
	t.Parallel()
	past := &calls.Outcomes{Steps: []calls.OutcomeStep{
		{At: at(-4), Counted: true, Retried: 20, Failed: 1}, {At: at(-3), Counted: true, Retried: 20},
		{At: at(-2), Counted: true, Retried: 20, Delivered: 1}, {At: at(-1), Counted: true, Delivered: 1},
	}}
	links := func(search, failures string) (all []string) {
		p := New(Ranges()[0], now, search)
		p.Failures = failures
		p.AddPast(past, now)
		p.Scale(1)
		for minute := -4; minute < 0; minute++ {
			link, err := url.QueryUnescape(p.column(at(minute)).Link)
			require.NoError(t, err)
			all = append(all, link)
		}
		return all
	}
	require.Equal(t, []string{
		"/console/timers?q=type:a ended:2026-11-26T02:48:00.000Z..2026-11-26T02:49:00.000Z",
		"/console/types/a?at=2026-11-26T02:49:00.000Z..2026-11-26T02:50:00.000Z#failures",
		"/console/types/a?at=2026-11-26T02:50:00.000Z..2026-11-26T02:51:00.000Z#failures",
		"/console/timers?q=type:a ended:2026-11-26T02:51:00.000Z..2026-11-26T02:52:00.000Z",
	}, links("type:a", "/console/types/a"))
	require.Equal(t, []string{
		"/console/timers?q=ended:2026-11-26T02:48:00.000Z..2026-11-26T02:49:00.000Z",
		"/console/timers?q=status:delivering",
		"/console/timers?q=ended:2026-11-26T02:50:00.000Z..2026-11-26T02:51:00.000Z",
		"/console/timers?q=ended:2026-11-26T02:51:00.000Z..2026-11-26T02:52:00.000Z",
	}, links("", ""), "of several types there is no such page")
}
