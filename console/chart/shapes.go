package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
)

// The sizes of the pictures, in units of their own: each column is as wide as all others.
const (
	plotWidth  = 1000.0
	plotHeight = 120.0
)

// Box is a rectangle of a picture.
type Box struct {
	Class               string
	X, Y, Width, Height float64
}

// Pattern is what fills it, by an id of the pages: colour alone tells nothing to who does not see it. What
// was delivered is plain, and has none.
func (b Box) Pattern() string {
	if b.Class == "delivered" {
		return ""
	}
	return "plot-" + b.Class
}

// Hit is a column as something to point at: what it is, and where it leads.
type Hit struct {
	Column
	X, Width float64
}

// Hits are all columns, at full height.
func (p *Plots) Hits() (all []Hit) {
	for i, c := range p.Columns {
		all = append(all, Hit{c, p.x(i), p.width()})
	}
	return all
}

func (p *Plots) width() float64  { return plotWidth / float64(max(len(p.Columns), 1)) }
func (p *Plots) x(i int) float64 { return places(float64(i) * p.width()) }
func places(x float64) float64   { return math.Round(x*100) / 100 }
func (p *Plots) y(n float64) float64 {
	return places(plotHeight - n/float64(max(p.Most, 1))*plotHeight)
}

// NowX is where now stands: at an end of the pictures if it is outside.
func (p *Plots) NowX() float64 {
	x := plotWidth * float64(p.Now.Sub(p.From)) / float64(max(p.To.Sub(p.From), 1))
	return places(min(max(x, 0), plotWidth))
}

// LimitY is where the limit stands; negative where there is none, or it is above the picture.
func (p *Plots) LimitY() float64 {
	if p.Limit <= 0 || p.Limit > float64(p.Most) {
		return -1
	}
	return p.y(p.Limit)
}

// Counts are the boxes of the lower picture. Ended timers are stacked by outcome. Due timers are divided at the
// limit.
func (p *Plots) Counts() (all []Box) {
	for i, c := range p.Columns {
		base := 0
		stack := func(class string, n int) {
			if n <= 0 {
				return
			}
			top := p.y(float64(base + n))
			all = append(all, Box{class, p.x(i), top, places(p.width()), places(p.y(float64(base)) - top)})
			base += n
		}
		if c.Ahead {
			stack("due", c.Due-c.Over)
			stack("over", c.Over)
			continue
		}
		stack("delivered", c.Delivered)
		stack("retried", c.Retried)
		stack("failed", c.Failed)
		stack("expired", c.Expired)
	}
	return all
}

// lateY is where a lateness stands: each power of ten is as high as all others, from 1 ms on.
func (p *Plots) lateY(ms float64) float64 {
	decades := math.Log10(p.Slowest)
	return places(plotHeight - math.Log10(max(ms, 1))/decades*plotHeight)
}

// Expected are the boxes of the upper picture: how late what is to come will be.
func (p *Plots) Expected() (all []Box) {
	for i, c := range p.Columns {
		if c.Late > 0 {
			top := p.lateY(float64(c.Late) / float64(time.Millisecond))
			all = append(all, Box{"over", p.x(i), top, places(p.width()), places(plotHeight - top)})
		}
	}
	return all
}

// P50 is a line of the upper picture, as a path. It ends where nothing rang.
func (p *Plots) P50() string { return p.path(func(c Column) float64 { return c.P50 }) }

// P99 is the same for the lateness of 99 of 100.
func (p *Plots) P99() string { return p.path(func(c Column) float64 { return c.P99 }) }

// Worst is the same for the greatest lateness.
func (p *Plots) Worst() string { return p.path(func(c Column) float64 { return c.Worst }) }

// path is a line through the middles of columns. A point without neighbours is a short stroke.
func (p *Plots) path(of func(Column) float64) string {
	var text strings.Builder
	number := func(n float64) string { return strconv.FormatFloat(places(n), 'f', -1, 64) }
	down := false
	for i, c := range p.Columns {
		ms := of(c)
		if ms < 0 {
			down = false
			continue
		}
		x, y := p.x(i), p.lateY(ms)
		if !down {
			text.WriteString("M" + number(x) + " " + number(y))
		}
		text.WriteString("H" + number(x+p.width()))
		if i+1 < len(p.Columns) && of(p.Columns[i+1]) >= 0 {
			text.WriteString("V" + number(p.lateY(of(p.Columns[i+1]))))
		}
		down = true
	}
	return text.String()
}

// Decades are the powers of ten of the upper picture, the highest first, in milliseconds.
func (p *Plots) Decades() (all []time.Duration) {
	for ms := p.Slowest; ms >= 1; ms /= 10 {
		all = append(all, time.Duration(ms)*time.Millisecond)
	}
	return all
}

// Grid are the heights of the lines between decades.
func (p *Plots) Grid() (all []float64) {
	for _, decade := range p.Decades() {
		all = append(all, p.lateY(float64(decade.Milliseconds())))
	}
	return all
}

// Ticks are moments at equal distances, both ends among them.
func (p *Plots) Ticks() (all []time.Time) {
	const parts = 4
	for i := range parts + 1 {
		all = append(all, p.From.Add(p.To.Sub(p.From)*time.Duration(i)/parts))
	}
	return all
}

// The size of a spark line, in units of its own.
const (
	sparkWidth  = 96.0
	sparkHeight = 20.0
)

// Spark are the boxes of a picture without an axis: what ended in each step, and what of it failed.
func Spark(steps []calls.OutcomeStep) (all []Box) {
	most, width := 1, sparkWidth/float64(max(len(steps), 1))
	for _, step := range steps {
		most = max(most, step.Ended())
	}
	for i, step := range steps {
		base := 0.0
		for _, part := range []struct {
			class string
			n     int
		}{{"failed", step.Failed}, {"expired", step.Expired}, {"delivered", step.Delivered}} {
			height := float64(part.n) / float64(most) * sparkHeight
			if part.n > 0 {
				all = append(all, Box{part.class, places(float64(i) * width), places(sparkHeight - base - height), places(width - 0.5), places(height)})
			}
			base += height
		}
	}
	return all
}
