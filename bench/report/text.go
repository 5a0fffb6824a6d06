package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Text writes the tables for a reader: the median of the rounds, then the least and the most.
func Text(w io.Writer, report Report) error {
	for _, line := range report.Machine.lines() {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	for _, table := range report.Tables {
		if err := table.text(w); err != nil {
			return err
		}
	}
	return verdicts(w, report.Verdicts)
}

func (t Table) text(w io.Writer) error {
	shown := t.columns()
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := []string{"\n" + t.Scenario}
	for _, column := range shown {
		line = append(line, column.title)
	}
	lines := []string{strings.Join(line, "\t")}
	for _, row := range t.Rows {
		if len(row.Figures) > 0 {
			lines = append(lines, row.line(shown))
		}
	}
	if _, err := fmt.Fprintln(tabs, strings.Join(lines, "\n")); err != nil {
		return err
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, t.notes())
	return err
}

// columns are the columns with a value for some subject.
func (t Table) columns() (shown []column) {
	for _, column := range columns {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { _, has := r.Figures[column.measure]; return has }) {
			shown = append(shown, column)
		}
	}
	return shown
}

func (r Row) line(shown []column) string {
	cells := []string{r.Subject}
	for _, column := range shown {
		spread, has := r.Figures[column.measure]
		switch {
		case !has:
			cells = append(cells, "-")
		case spread.Least == spread.Most || counts[column.measure]:
			cells = append(cells, number(spread.Median))
		default:
			cells = append(cells, fmt.Sprintf("%s (%s-%s)", number(spread.Median), number(spread.Least), number(spread.Most)))
		}
	}
	return strings.Join(cells, "\t")
}

// notes are the lines below the table, each with its subject.
func (t Table) notes() string {
	var lines strings.Builder
	for _, row := range t.Rows {
		for _, note := range row.Notes {
			fmt.Fprintf(&lines, "  %s: %s\n", row.Subject, note)
		}
		for _, what := range slices.Sorted(maps.Keys(row.Answers)) {
			fmt.Fprintf(&lines, "  %s: answered %q %d times\n", row.Subject, what, row.Answers[what])
		}
	}
	return lines.String()
}

// number keeps three digits, and all before the point.
func number(f float64) string {
	digits := 2
	if f != 0 {
		digits = min(max(2-int(math.Floor(math.Log10(math.Abs(f)))), 0), 2)
	}
	text := strconv.FormatFloat(f, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
