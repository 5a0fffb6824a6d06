package main

import (
	"fmt"
	"math"
	"strings"
)

// chart is a dot plot on a logarithmic axis.
type chart struct {
	title  string
	series []string
	lines  []line
}

// line is a line of a chart, with the numbers of each series.
type line struct {
	label  string
	series [][]float64
}

// Sizes in pixels.
const (
	width  = 850
	left   = 240
	right  = 30
	unit   = 22
	header = 50
)

var colours = []string{"#60a5fa", "#1d4ed8", "#b91c1c"}

// draw writes charts above one another, as SVG.
func draw(charts []chart) string {
	var b strings.Builder
	y := 0
	for _, c := range charts {
		y += c.draw(&b, y)
	}
	head := fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "+
		"font-family=\"sans-serif\" font-size=\"12\" fill=\"#334155\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", width, y)
	return head + b.String() + "</svg>\n"
}

// draw writes a chart whose top is at y, and returns its height.
func (c chart) draw(b *strings.Builder, y int) int {
	low, high := c.bounds()
	fmt.Fprintf(b, "<text x=\"10\" y=\"%d\" font-weight=\"bold\">%s</text>\n", y+20, c.title)
	for i, name := range c.series {
		x := width - right - 90*(len(c.series)-i)
		fmt.Fprintf(b, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
			x, y+16, colours[i], x+9, y+20, name)
	}
	bottom := y + header + unit*len(c.lines)
	for power := low; power <= high; power++ {
		x := place(math.Pow10(power), low, high)
		fmt.Fprintf(b, "<path d=\"M%.1f %dV%d\" stroke=\"#e2e8f0\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
			x, y+32, bottom-8, x, bottom+8, math.Pow10(power))
	}
	for i, l := range c.lines {
		at := y + header + unit*i
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left-12, at+4, l.label)
		for j, numbers := range l.series {
			for _, n := range numbers {
				fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\" fill-opacity=\"0.75\"/>\n", place(n, low, high), at, colours[j])
			}
		}
	}
	return bottom + 24 - y
}

// bounds returns the powers of ten between which all numbers of a chart lie.
func (c chart) bounds() (low, high int) {
	least, most := math.Inf(1), 0.0
	for _, l := range c.lines {
		for _, numbers := range l.series {
			for _, n := range numbers {
				least, most = min(least, n), max(most, n)
			}
		}
	}
	return int(math.Floor(math.Log10(least))), int(math.Ceil(math.Log10(most)))
}

// place returns where a number lies on the axis.
func place(n float64, low, high int) float64 {
	share := (math.Log10(n) - float64(low)) / float64(high-low)
	return left + share*(width-left-right)
}
