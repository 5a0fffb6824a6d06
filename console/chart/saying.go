package chart

import (
	"html/template"
	"strings"

	"github.com/wakecall/wakecall/console/words"
)

// Filled are the columns that have something in them.
func (p *Plots) Filled() (all []Column) {
	for _, c := range p.Columns {
		if c.Due+c.Delivered+c.Failed+c.Expired+c.Retried > 0 || c.Worst >= 0 {
			all = append(all, c)
		}
	}
	return all
}

// totals are what columns show together.
type totals struct {
	ended, failed, retried, due, over int
	// worst is the greatest lateness, negative for none, and late the column that will be latest.
	worst float64
	late  *Column
}

func totalsOf(columns []Column) totals {
	sum := totals{worst: -1}
	for i := range columns {
		c := &columns[i]
		sum.ended, sum.failed = sum.ended+c.Delivered+c.Failed+c.Expired, sum.failed+c.Failed
		sum.retried, sum.due, sum.over = sum.retried+c.Retried, sum.due+c.Due, sum.over+c.Over
		sum.worst = max(sum.worst, c.Worst)
		if c.Late > 0 && (sum.late == nil || c.Late > sum.late.Late) {
			sum.late = c
		}
	}
	return sum
}

// Gist is the pictures in a few sentences: what has been, and what is to come. What is not read is no zero.
func (p *Plots) Gist(in words.Speech) template.HTML {
	sum := totalsOf(p.Columns)
	var parts []template.HTML
	count := func(key string, n int, with ...any) {
		parts = append(parts, in.HTML(in.KeyFor(key, n), append(with, n)...))
	}
	past, ahead := p.Range.Back > 0 && !p.Unread, p.Range.Ahead > 0 && (sum.due > 0 || !p.AheadUnread)
	whole := p.Range.Zoomed && !p.Unread && (sum.due > 0 || !p.AheadUnread)
	switch {
	case whole:
		count("plots.gist.zoomed", sum.due, p.From, p.To, sum.ended, sum.failed)
	case past:
		parts = append(parts, in.HTML("plots.gist.past", p.Range.Back, sum.ended, sum.failed))
	}
	if sum.retried > 0 {
		count("plots.gist.retried", sum.retried)
	}
	if sum.worst >= 0 {
		parts = append(parts, in.HTML("plots.gist.worst", in.MS(sum.worst)))
	}
	if ahead && !whole {
		count("plots.gist.ahead", sum.due, p.Range.Ahead)
	}
	if sum.over > 0 {
		count("plots.gist.over", sum.over)
	}
	if sum.late != nil {
		parts = append(parts, in.HTML("plots.gist.late", sum.late.At, sum.late.Late))
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
	if p.AheadUnread && !p.Coming {
		parts = append(parts, in.T("plots.aheadunread"))
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
		if c.Over > 0 {
			text += in.T("plots.says.over", in.Num(c.Over))
		}
		if c.Late > 0 {
			text += in.T("plots.says.late", in.Span(c.Late))
		}
		return text
	}
	text := words.UTC(c.At) + ": " + in.T("plots.says.ended", in.Num(c.Delivered), in.Num(c.Failed), in.Num(c.Expired))
	if c.Retried > 0 {
		text += in.T("plots.says.retried", in.Num(c.Retried))
	}
	if c.P99 >= 0 {
		text += in.T("plots.says.rang", in.MS(c.P50), in.MS(c.P99), in.MS(c.Worst))
	}
	return text
}
