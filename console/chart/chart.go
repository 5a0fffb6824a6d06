package chart

import (
	"fmt"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/words"
)

// Chart is what falls due in the time ahead, as bars.
type Chart struct {
	Bars []bar
	// Limit is how high the limit stands; 0 where there is none, or it is higher than all bars.
	Limit float64
	// Most is the highest bar, Total all of them, and From and To what they span.
	Most, Total int
	From, To    time.Time
	// Late is the first bar whose timers are late; nil for none.
	Late *bar
}

// bar is one stretch of time. X, Y, Width and Height are where it stands in the picture, and Over is
// how much of the height lies above the limit.
type bar struct {
	At, End             time.Time
	Due                 int
	Lateness            string
	X, Y, Width, Height float64
	// Link leads to its timers.
	Link string
}

// The size of the picture, in units of its own.
const (
	chartWidth  = 960.0
	chartHeight = 120.0
	// chartBars is how many bars there are at most.
	chartBars = 96
)

// New draws forecasts of the same steps, one upon another. The limit is shown of one type only.
func New(forecasts []*calls.Forecast, search string) *Chart {
	c := &Chart{}
	for _, f := range forecasts {
		c.add(f, len(forecasts) == 1)
	}
	if len(c.Bars) == 0 {
		return nil
	}
	c.From, c.To = c.Bars[0].At, c.Bars[len(c.Bars)-1].End
	for i := range c.Bars {
		c.Most = max(c.Most, c.Bars[i].Due)
		c.Total += c.Bars[i].Due
	}
	for i := range c.Bars {
		c.place(i, search)
	}
	if c.Limit > 0 {
		if c.Limit = c.height(c.Limit); c.Limit > chartHeight {
			c.Limit = 0
		}
	}
	return c
}

// add adds the steps of a forecast to the bars, several steps to one.
func (c *Chart) add(f *calls.Forecast, limited bool) {
	each := max(1, (len(f.Steps)+chartBars-1)/chartBars)
	for i, step := range f.Steps {
		at := i / each
		for len(c.Bars) <= at {
			c.Bars = append(c.Bars, bar{At: step.At})
		}
		b := &c.Bars[at]
		b.Due += step.Due + step.DispatchItems
		if b.Lateness == "" {
			b.Lateness = step.Lateness
		}
		if b.End = step.At; i+1 < len(f.Steps) {
			b.End = f.Steps[i+1].At
		}
	}
	if limited && f.CallbacksPerSecond != nil && len(c.Bars) > 0 {
		c.Limit = *f.CallbacksPerSecond * c.Bars[0].End.Sub(c.Bars[0].At).Seconds()
	}
}

func (c *Chart) height(n float64) float64 { return n / float64(max(c.Most, 1)) * chartHeight }

// place says where a bar stands.
func (c *Chart) place(i int, search string) {
	b := &c.Bars[i]
	b.Width = chartWidth / float64(len(c.Bars))
	b.X = float64(i) * b.Width
	if b.Height = c.height(float64(b.Due)); b.Due > 0 {
		b.Height = max(b.Height, 2)
	}
	b.Y = chartHeight - b.Height
	if search != "" {
		search += " "
	}
	b.Link = links.List(fmt.Sprintf("%sdue:%s..%s sort:due", search, words.ISO(b.At), words.ISO(b.End)), "")
	if b.Lateness != "" && c.Late == nil {
		c.Late = b
	}
}

// Gist is a chart in a sentence.
func (c *Chart) Gist(in words.Speech) string {
	if c.Late != nil {
		return in.T("chart.gist.late", in.Num(c.Total), in.At(c.To), in.At(c.Late.At), c.Late.Lateness)
	}
	return in.T("chart.gist", in.Num(c.Total), in.At(c.To))
}

// LimitY is where the line of the limit stands.
func (c *Chart) LimitY() float64 { return chartHeight - c.Limit }

// Filled are the bars that have something in them.
func (c *Chart) Filled() []bar { return calls.Where(c.Bars, func(b bar) bool { return b.Due > 0 }) }
