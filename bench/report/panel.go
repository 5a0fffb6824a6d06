package report

import (
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Shades go from the mildest figure to the worst; a single figure has the middle one.
var shades = []color.Color{
	color.RGBA{R: 16, G: 122, B: 87, A: 255}, color.RGBA{R: 44, G: 90, B: 160, A: 255}, color.RGBA{R: 190, G: 60, B: 40, A: 255},
}

// least is the beginning of a logarithmic axis: smaller and early figures are drawn there.
const least = 0.1

// draw puts the subjects below each other and their figures on a logarithmic axis, since
// they lie decades apart.
func (p panel) draw(rows []Row) (*plot.Plot, error) {
	drawn := plot.New()
	drawn.Title.Text, drawn.Title.Padding = p.title, vg.Millimeter
	drawn.X.Scale, drawn.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	drawn.Add(plotter.NewGrid())
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Subject
		if err := p.line(drawn, float64(i), row); err != nil {
			return nil, err
		}
	}
	drawn.NominalY(names...)
	drawn.Y.Min, drawn.Y.Max = -0.5, float64(len(rows))-0.5
	// Whole decades, so that panels of one kind look alike.
	drawn.X.Min = math.Pow(10, math.Floor(math.Log10(drawn.X.Min)))
	drawn.X.Max = math.Pow(10, math.Floor(math.Log10(drawn.X.Max))+1)
	return drawn, nil
}

// line draws one subject: a dot for each figure, and a line between the first
// and the last.
func (p panel) line(drawn *plot.Plot, y float64, row Row) error {
	points := plotter.XYs{}
	for _, measure := range p.measures {
		points = append(points, plotter.XY{X: max(row.Figures[measure].Median, least), Y: y})
	}
	path, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	path.Color = color.Gray{Y: 160}
	drawn.Add(path)
	for i := range points {
		dot, err := plotter.NewScatter(points[i : i+1])
		if err != nil {
			return err
		}
		dot.GlyphStyle = draw.GlyphStyle{Shape: draw.CircleGlyph{}, Radius: vg.Millimeter, Color: p.shade(i)}
		drawn.Add(dot)
	}
	return p.label(drawn, points[len(points)-1], row)
}

func (p panel) shade(i int) color.Color {
	if len(p.measures) == 1 {
		return shades[1]
	}
	return shades[i]
}

// label writes the figures beside the last dot.
func (p panel) label(drawn *plot.Plot, at plotter.XY, row Row) error {
	texts := make([]string, len(p.measures))
	for i, measure := range p.measures {
		texts[i] = number(row.Figures[measure].Median)
	}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{at}, Labels: []string{strings.Join(texts, " / ")}})
	if err != nil {
		return err
	}
	labels.TextStyle[0].YAlign, labels.Offset = draw.YCenter, vg.Point{X: 2 * vg.Millimeter}
	drawn.Add(labels)
	return nil
}
