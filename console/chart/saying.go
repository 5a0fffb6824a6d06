package chart

import (
	"html/template"
	"strings"

	"github.com/wakecall/wakecall/console/words"
)

// Filled are the columns that have something in them.
func (p *Plots) Filled() (all []Column) {
	for _, c := range p.Columns {
		if c.Due+c.Delivered+c.Failed+c.Expired+int(c.Retried) > 0 || c.Worst >= 0 {
			all = append(all, c)
		}
	}
	return all
}

// Gist is the pictures in a sentence or two: what has been, and what is to come.
func (p *Plots) Gist(in words.Speech) template.HTML {
	var ended, failed, due int
	worst, late := -1.0, (*Column)(nil)
	for i := range p.Columns {
		c := &p.Columns[i]
		ended, failed, due = ended+c.Delivered+c.Failed+c.Expired, failed+c.Failed, due+c.Due
		worst = max(worst, c.Worst)
		if c.Late > 0 && (late == nil || c.Late > late.Late) {
			late = c
		}
	}
	var parts []template.HTML
	switch {
	case p.Unread: // the numbers would be zeros
	case p.Range.Zoomed:
		parts = append(parts, in.HTML(in.KeyFor("plots.gist.zoomed", due), p.From, p.To, ended, failed, due))
	case p.Range.Back > 0:
		parts = append(parts, in.HTML("plots.gist.past", p.Range.Back, ended, failed))
	}
	if worst >= 0 {
		parts = append(parts, in.HTML("plots.gist.worst", in.MS(worst)))
	}
	if !p.Range.Zoomed {
		parts = append(parts, in.HTML(in.KeyFor("plots.gist.ahead", due), p.Range.Ahead, due))
	}
	if late != nil {
		parts = append(parts, in.HTML("plots.gist.late", late.At, late.Late))
	}
	if !p.UncountedFrom.IsZero() {
		parts = append(parts, in.HTML("forecast.uncounted", p.UncountedFrom))
	}
	return words.Together(parts...)
}

// Source says whose lateness it is, and what is not known.
func (p *Plots) Source(in words.Speech) string {
	var parts []string
	switch {
	case p.Coming:
		parts = append(parts, in.T("plots.coming"))
	case p.Unread:
		parts = append(parts, in.T("plots.unread"))
	case p.LatenessFrom == "node":
		parts = append(parts, in.T("plots.node"))
	case p.LatenessFrom == "unanswered":
		parts = append(parts, in.T("plots.unanswered"))
	case p.LatenessFrom == "unknown":
		parts = append(parts, in.T("plots.unknown"))
	}
	if p.Uncounted && !p.Unread {
		parts = append(parts, in.T("plots.uncounted"))
	}
	if p.Recurs && p.Range.Back > 0 {
		parts = append(parts, in.T("plots.recurs"))
	}
	return strings.Join(parts, " ")
}

// Says is a column in words, for a place that has no elements.
func (c Column) Says(in words.Speech) string {
	if c.Ahead {
		text := words.UTC(c.At) + ": " + in.T("plots.says.due", in.Num(c.Due))
		if c.Late > 0 {
			text += in.T("plots.says.late", in.Span(c.Late))
		}
		return text
	}
	text := words.UTC(c.At) + ": " + in.T("plots.says.ended", in.Num(c.Delivered), in.Num(c.Failed), in.Num(c.Expired))
	if c.P99 >= 0 {
		text += in.T("plots.says.rang", in.MS(c.P50), in.MS(c.P99), in.MS(c.Worst))
	}
	return text
}
