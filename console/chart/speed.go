package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/words"
)

// Speed is how fast something is at a time, and how fast it was asked to be, both a second.
type Speed struct {
	At              time.Time
	Asked, Achieved float64
}

// Curve is a picture of speeds over time.
type Curve struct {
	Speeds []Speed
	// Most is what the picture reaches up to.
	Most int
}

// longestGap is how far apart two samples of a line are at most. Between others no page was open.
const longestGap = 10 * time.Second

// CurveOf draws speeds, the oldest first; nil for fewer than two.
func CurveOf(speeds []Speed) *Curve {
	if len(speeds) < 2 {
		return nil
	}
	most := 1.0
	for _, one := range speeds {
		most = max(most, one.Asked, one.Achieved)
	}
	return &Curve{Speeds: speeds, Most: readable(int(math.Ceil(most)))}
}

// From is when the picture begins, and To when it ends.
func (c *Curve) From() time.Time { return c.Speeds[0].At }

// To is when the picture ends.
func (c *Curve) To() time.Time { return c.Speeds[len(c.Speeds)-1].At }

// Mean is the mean of the speeds that were achieved.
func (c *Curve) Mean() string {
	sum := 0.0
	for _, one := range c.Speeds {
		sum += one.Achieved
	}
	return words.Speed(sum / float64(len(c.Speeds)))
}

// Asked is the line of what was asked for, as a path.
func (c *Curve) Asked() string { return c.path(func(s Speed) float64 { return s.Asked }) }

// Achieved is the line of what was achieved.
func (c *Curve) Achieved() string { return c.path(func(s Speed) float64 { return s.Achieved }) }

func (c *Curve) path(of func(Speed) float64) string {
	var text strings.Builder
	whole := max(c.To().Sub(c.From()), 1)
	last := time.Time{}
	for _, one := range c.Speeds {
		x := places(plotWidth * float64(one.At.Sub(c.From())) / float64(whole))
		y := places(plotHeight - of(one)/float64(c.Most)*plotHeight)
		letter := "L"
		if one.At.Sub(last) > longestGap {
			letter = "M"
		}
		text.WriteString(letter + strconv.FormatFloat(x, 'f', -1, 64) + " " + strconv.FormatFloat(y, 'f', -1, 64))
		last = one.At
	}
	return text.String()
}

// rowsOfCurve is about how many rows a curve has as a table.
const rowsOfCurve = 20

// Row is a speed in figures.
type Row struct {
	At              time.Time
	Asked, Achieved string
}

// Rows are some of the speeds at equal distances, the latest first.
func (c *Curve) Rows() (rows []Row) {
	for i := len(c.Speeds) - 1; i >= 0; i -= (len(c.Speeds) + rowsOfCurve - 1) / rowsOfCurve {
		one := c.Speeds[i]
		rows = append(rows, Row{At: one.At, Asked: words.Speed(one.Asked), Achieved: words.Speed(one.Achieved)})
	}
	return rows
}
