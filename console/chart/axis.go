package chart

import (
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Range is the time that plots span around now.
type Range struct {
	Key string
	// Back and Ahead are how far it reaches, and Step how long each column is. One of the two is
	// negative if now is outside.
	Back, Ahead, Step time.Duration
	// Zoomed reports whether a user chose its ends.
	Zoomed bool
}

// Ranges are the ranges to choose from. The first one is the default.
func Ranges() []Range {
	return []Range{
		{Key: "1h", Back: words.Hour, Ahead: words.Hour, Step: words.Minute},
		{Key: "6h", Back: 6 * words.Hour, Ahead: 6 * words.Hour, Step: 5 * words.Minute},
		{Key: "24h", Back: words.Day, Ahead: words.Day, Step: 20 * words.Minute},
		{Key: "7d", Ahead: 7 * words.Day, Step: 2 * words.Hour},
	}
}

// RangeNamed is the range with a key, or the one between two times (from..to); the first one if
// there is none.
func RangeNamed(key string, now time.Time) Range {
	all := Ranges()
	for _, r := range all {
		if r.Key == key {
			return r
		}
	}
	if r, ok := zoomed(key, nextMinute(now)); ok {
		return r
	}
	return all[0]
}

// zoomed reads a range between two times. It reaches no farther than the others do, and has as many
// columns as the first of them at most, and two more where now divides it. A column begins with now.
func zoomed(key string, now time.Time) (r Range, ok bool) {
	first, last, _ := strings.Cut(key, "..")
	from, err := time.Parse(time.RFC3339, first)
	to, err2 := time.Parse(time.RFC3339, last)
	if err != nil || err2 != nil || !from.Before(to) {
		return r, false
	}
	others, widest := Ranges(), Range{}
	for _, other := range others {
		widest.Back, widest.Ahead = max(widest.Back, other.Back), max(widest.Ahead, other.Ahead)
	}
	back, ahead := min(now.Sub(from), widest.Back), min(to.Sub(now), widest.Ahead)
	if back+ahead <= 0 {
		return r, false
	}
	columns, step := (others[0].Back+others[0].Ahead)/others[0].Step, words.Minute
	for back+ahead > columns*step {
		step += words.Minute
	}
	return Range{Key: key, Back: roundUp(back, step), Ahead: roundUp(ahead, step), Step: step, Zoomed: true}, true
}

// roundUp returns the next multiple of a step that is not less than d.
func roundUp(d, step time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(d)/float64(step))) * step
}

// Plots are two pictures over one time axis, with now between what has been and what is to come:
// how late timers ring, and how many there are.
type Plots struct {
	Range Range
	// Now divides the columns, and From and To are where the axis begins and ends.
	Now, From, To time.Time
	Columns       []Column
	// Limit is how many callbacks a column lets through; 0 for no line to be drawn.
	Limit float64
	// Most is what the lower picture reaches up to, and Slowest the upper one, in milliseconds.
	Most    int
	Slowest float64
	Known
	// Failures is the page that groups the failures of a type; "" where the plots are of several.
	Failures string
	search   string
}

// Known is what is known of the past.
type Known struct {
	// LatenessFrom says whose lateness it is: node, prometheus or unknown.
	LatenessFrom string
	// Counted is when what ended was counted, and late reports whether that is long ago.
	Counted time.Time
	late    bool
	// Uncounted reports whether something of the past before Counted was not counted yet, Unread whether the past cannot be
	// read, and Coming whether it is being read.
	Uncounted, Unread, Coming bool
	// AheadUnread reports whether the time ahead of a type cannot be read.
	AheadUnread bool
	// UncountedFrom is since when rings of recurring timers are missing ahead; the zero time if none are.
	UncountedFrom time.Time
	// Recurs reports whether timers of it recur: they end once, and not with each occurrence.
	Recurs bool
}

// Column is one stretch of the axis.
type Column struct {
	At, End time.Time
	Ahead   bool
	Counted bool
	// What ended, and how many calls of it are repeated.
	Delivered, Failed, Expired, Retried int
	// P50, P99 and Worst are the lateness, in milliseconds; negative where there is none.
	P50, P99, Worst float64
	// Due is what falls due, Over how much of it lies above the limit, and Late how late the last of
	// it will be.
	Due, Over int
	Late      time.Duration
	// Link leads to exactly those timers.
	Link string
}

// New begins the pictures. search finds the timers that they show. The minute that goes on belongs
// to what has been.
func New(r Range, now time.Time, search string) *Plots {
	p := &Plots{Range: r, search: search, Now: nextMinute(now)}
	p.From, p.To = p.Now.Add(-r.Back), p.Now.Add(r.Ahead)
	for at := p.From; at.Before(p.To); at = at.Add(r.Step) {
		p.Columns = append(p.Columns, Column{At: at, End: at.Add(r.Step), Ahead: !at.Before(p.Now), P50: -1, P99: -1, Worst: -1})
	}
	return p
}

// Asof is when what ended was counted, if a reader has to know it: if that is long ago, or if timers have
// rung and none of them is counted yet. It is zero otherwise.
func (p *Plots) Asof() (at time.Time) {
	if p.late || rungUncounted(p.Columns) {
		return p.Counted
	}
	return at
}

// rungUncounted reports whether columns have latenesses and no ends.
func rungUncounted(columns []Column) bool {
	rung := false
	for _, c := range columns {
		if c.Delivered+c.Failed+c.Expired > 0 {
			return false
		}
		rung = rung || c.Worst >= 0
	}
	return rung
}

func nextMinute(now time.Time) time.Time {
	return now.UTC().Truncate(time.Minute).Add(words.Minute)
}

func (p *Plots) column(at time.Time) *Column {
	if at.Before(p.From) || !at.Before(p.To) {
		return nil
	}
	return &p.Columns[int(at.Sub(p.From)/p.Range.Step)]
}

// AddPast adds what has been, as known now.
func (p *Plots) AddPast(past *calls.Outcomes, now time.Time) {
	p.LatenessFrom, p.Counted = past.LatenessFrom, past.CountedAt
	p.late = now.Sub(p.Counted) > tuning.PlotsCountedWithin
	for _, step := range past.Steps {
		c := p.column(step.At)
		if c == nil || c.Ahead {
			continue
		}
		c.Counted = step.Counted
		c.Delivered, c.Failed, c.Expired, c.Retried = step.Delivered, step.Failed, step.Expired, int(step.Retried)
		c.P50, c.P99, c.Worst = known(step.P50), known(step.P99), known(step.Worst)
		p.Uncounted = p.Uncounted || !step.Counted && (p.Counted.IsZero() || !c.End.After(p.Counted))
	}
}

func known(ms *float64) float64 {
	if ms == nil {
		return -1
	}
	return *ms
}

// AddAhead adds what is to come of one type. Of several, the limits are not added up: what
// overflows is the sum of what overflows of each.
func (p *Plots) AddAhead(f *calls.Forecast) {
	if missing := f.UncountedFrom; !missing.IsZero() && (p.UncountedFrom.IsZero() || missing.Before(p.UncountedFrom)) {
		p.UncountedFrom = missing
	}
	limit, rounded := 0.0, 1e-6 // 4.1 a second are 245.99999999999997 a minute
	if f.CallbacksPerSecond != nil {
		limit = *f.CallbacksPerSecond * p.Range.Step.Seconds()
	}
	due := map[*Column]int{}
	for _, step := range f.Steps {
		c := p.column(step.At)
		if step.At.Before(p.Now) || c == nil || !c.Ahead {
			continue
		}
		due[c] += step.Due + step.DispatchItems
		if late, err := time.ParseDuration(step.Lateness); err == nil { // "" for none
			c.Late = max(c.Late, late)
		}
	}
	for c, n := range due {
		c.Due += n
		if f.CallbacksPerSecond != nil { // one of 0 lets nothing through
			c.Over += max(n-int(limit+rounded), 0)
		}
	}
	p.Limit = limit
}

// Scale says how high the pictures reach, and where each column leads. Of several types there is
// no limit to be drawn.
func (p *Plots) Scale(types int) {
	if types != 1 {
		p.Limit = 0
	}
	p.Slowest = 1000
	for i := range p.Columns {
		c := &p.Columns[i]
		p.Most = max(p.Most, c.Due, c.Delivered+c.Failed+c.Expired+c.Retried)
		p.Slowest = max(p.Slowest, c.Worst, c.P99, float64(c.Late.Milliseconds()))
		c.Link = p.leadsTo(c)
	}
	p.Slowest = math.Pow(10, math.Ceil(math.Log10(p.Slowest)))
	p.Most = readable(p.Most)
}

// leadsTo is where the timers of a column are found. Those that are tried again have not ended: where none has
// failed for good, a list of what ended would have no failure.
func (p *Plots) leadsTo(c *Column) string {
	span := words.ISO(c.At) + ".." + words.ISO(c.End)
	switch {
	case c.Ahead:
		return links.List(searched(p.search, "due:"+span+" sort:due"), "")
	case c.Retried > 0 && c.Failed == 0 && p.Failures != "":
		return p.Failures + "?" + url.Values{"at": {span}}.Encode() + "#failures"
	case c.Retried > 0 && c.Delivered+c.Failed+c.Expired == 0:
		return links.List(searched(p.search, "status:"+calls.StatusDelivering), "")
	default:
		return links.List(searched(p.search, "ended:"+span), "")
	}
}

// searched adds more words to those of a search.
func searched(search, more string) string {
	if search == "" {
		return more
	}
	return search + " " + more
}

// readable is the next number that is easy to read: 1, 2 or 5 and zeros.
func readable(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if unit*digit >= n {
				return unit * digit
			}
		}
	}
}
