package report

import (
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// panel is one part of the picture.
type panel struct {
	title    string
	measures []Measure
	sources  []source
}

// source is a scenario whose subjects are shown, with a suffix to their names.
type source struct{ scenario, suffix string }

var lateness = []Measure{LatenessP50, LatenessP99, LatenessMax}

// panels stand above each other. A panel without a run scenario is left out.
var panels = []panel{
	{"50 timers a second: lateness in ms, median, 99th percentile and maximum", lateness, []source{{"steady-50", ""}}},
	{"All at one instant: callbacks a second", []Measure{DrainRate}, []source{{"herd-preload", ", preload"}, {"herd", ""}}},
	{"Recurring, all at one instant: lateness in ms, median, 99th percentile and maximum", lateness, []source{{"recurring", ""}}},
	{"Recurring: state transitions for each occurrence", []Measure{Transitions}, []source{{"recurring", ""}}},
	{"Bookings a second, one by one", []Measure{AddRate}, []source{{"adds", ""}}},
	{"Bookings a second, by batch", []Measure{AddRate}, []source{{"adds-batch", ""}}},
}

const (
	width   = 22 * vg.Centimeter
	rowUnit = 0.65 * vg.Centimeter
	head    = 2 * vg.Centimeter
)

// Picture draws the most important figures, as SVG.
func Picture(w io.Writer, tables []Table) error {
	var plots [][]*plot.Plot
	most := 0
	for _, panel := range panels {
		rows := panel.rows(tables)
		if len(rows) == 0 {
			continue
		}
		drawn, err := panel.draw(rows)
		if err != nil {
			return err
		}
		plots, most = append(plots, []*plot.Plot{drawn}), max(most, len(rows))
	}
	if len(plots) == 0 {
		plots = [][]*plot.Plot{{plot.New()}}
	}
	canvas := vgsvg.New(width, vg.Length(len(plots))*(head+vg.Length(most)*rowUnit))
	tiles := draw.Tiles{
		Rows: len(plots), Cols: 1,
		PadTop: vg.Millimeter, PadY: vg.Centimeter / 2, PadRight: 2 * vg.Centimeter, PadLeft: vg.Centimeter / 4,
	}
	for i, place := range plot.Align(plots, tiles, draw.New(canvas)) {
		plots[i][0].Draw(place[0])
	}
	_, err := canvas.WriteTo(w)
	return err
}

// rows are the subjects with the figures, from below: the first one is on top.
func (p panel) rows(tables []Table) (rows []Row) {
	for _, source := range p.sources {
		for _, table := range tables {
			if table.Scenario == source.scenario {
				rows = append(rows, p.measured(table.Rows, source.suffix)...)
			}
		}
	}
	slices.Reverse(rows)
	return rows
}

func (p panel) measured(all []Row, suffix string) (rows []Row) {
	for _, row := range all {
		if _, has := row.Figures[p.measures[0]]; has {
			row.Subject += suffix
			rows = append(rows, row)
		}
	}
	return rows
}
