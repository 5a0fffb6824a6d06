package dispatch

import (
	"fmt"
	"strings"
)

// The size of the picture, in pixels: of a panel, and of its margins.
const (
	width, height = 760.0, 130.0
	left, top     = 70.0, 30.0
	between       = 46.0
)

// The colours of the axes, of the line, and of the band within 5 % of the rate.
const axis, line, band = "#666", "#1f6feb", "#1f6feb22"

// Picture draws curves as SVG, one below the other.
func Picture(curves []Curve) string {
	var s strings.Builder
	whole := top + float64(len(curves))*(height+between)
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12" fill="%s">`+"\n", left+width+20, whole, axis)
	fmt.Fprint(&s, `<rect width="100%" height="100%" fill="white"/>`+"\n")
	for i, c := range curves {
		c.panel(&s, top+float64(i)*(height+between))
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// panel draws one curve; y is its upper end.
func (c Curve) panel(s *strings.Builder, y float64) {
	most, last := 1.25*c.Rate, float64(len(c.Seconds))
	x := func(second float64) float64 { return left + second/last*width }
	at := func(items float64) float64 { return y + height*(1-items/most) }
	fmt.Fprintf(s, `<text x="%.0f" y="%.0f" font-weight="bold">%g items a second</text>`+"\n", left, y-8, c.Rate)
	fmt.Fprintf(s, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, at(1.05*c.Rate), width, at(0.95*c.Rate)-at(1.05*c.Rate), band)
	fmt.Fprintf(s, `<path d="M%.1f %.1fV%.1fH%.1f" fill="none" stroke="%s"/>`+"\n", left, y, y+height, left+width, axis)
	for _, items := range []float64{0, c.Rate / 2, c.Rate} {
		fmt.Fprintf(s, `<text x="%.0f" y="%.1f" text-anchor="end">%g</text>`+"\n", left-6, at(items)+4, items)
	}
	for second := 0.0; second <= last; second += 10 {
		fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="middle">%g s</text>`+"\n", x(second), y+height+15, second)
	}
	for _, event := range c.Events {
		fmt.Fprintf(s, `<path d="M%.1f %.1fV%.1f" stroke="%s" stroke-dasharray="3 3"/><text x="%.1f" y="%.1f">%s</text>`+"\n",
			x(event.At), y, y+height, axis, x(event.At)+4, y+height-8, event.What)
	}
	fmt.Fprintf(s, `<path d="M%.1f %.1f`, x(0), at(float64(c.Seconds[0])))
	for second, items := range c.Seconds {
		fmt.Fprintf(s, "V%.1fH%.1f", at(float64(items)), x(float64(second+1)))
	}
	fmt.Fprintf(s, `" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", line)
}
