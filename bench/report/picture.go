package report

import (
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// panel is one part of the picture.
type panel struct {
	scenario, title string
	measures        []Measure
}

// panels stand above each other. One whose scenario was not run is left out.
var panels = []panel{
	{"steady-50", "50 timers a second: lateness in ms, median, 99th percentile and maximum", []Measure{LatenessP50, LatenessP99, LatenessMax}},
	{"herd", "All at one instant: callbacks a second", []Measure{DrainRate}},
	{"herd-preload", "All at one instant, preloaded: callbacks a second", []Measure{DrainRate}},
	{"recurring", "Recurring, all at one instant: lateness in ms, median, 99th percentile and maximum", []Measure{LatenessP50, LatenessP99, LatenessMax}},
	{"recurring", "Recurring: state transitions for each occurrence", []Measure{Transitions}},
	{"adds", "Bookings a second, one by one", []Measure{AddRate}},
	{"adds-batch", "Bookings a second, by batch", []Measure{AddRate}},
}

const (
	width   = 22 * vg.Centimeter
	rowUnit = 0.65 * vg.Centimeter
	head    = 2 * vg.Centimeter
)

// Picture draws the figures that matter most, as SVG.
func Picture(w io.Writer, tables []Table) error {
	var plots [][]*plot.Plot
	most := 0
	for _, panel := range panels {
		for _, table := range tables {
			rows := panel.rows(table)
			if table.Scenario != panel.scenario || len(rows) == 0 {
				continue
			}
			drawn, err := panel.draw(rows)
			if err != nil {
				return err
			}
			plots, most = append(plots, []*plot.Plot{drawn}), max(most, len(rows))
		}
	}
	if len(plots) == 0 {
		plots = [][]*plot.Plot{{plot.New()}}
	}
	canvas := vgsvg.New(width, vg.Length(len(plots))*(head+vg.Length(most)*rowUnit))
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadTop: vg.Millimeter, PadY: vg.Centimeter / 2, PadRight: 2 * vg.Centimeter, PadLeft: vg.Centimeter / 4}
	for i, place := range plot.Align(plots, tiles, draw.New(canvas)) {
		plots[i][0].Draw(place[0])
	}
	_, err := canvas.WriteTo(w)
	return err
}

// rows are the subjects that have the figures, the first one on top.
func (p panel) rows(table Table) (rows []Row) {
	for i := range table.Rows {
		row := table.Rows[len(table.Rows)-1-i]
		if _, has := row.Figures[p.measures[0]]; has {
			rows = append(rows, row)
		}
	}
	return rows
}
