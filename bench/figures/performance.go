package main

import (
	"fmt"
	"strconv"
	"strings"
)

// performanceCharts shows the most important figures of each measured subject.
func performanceCharts(all map[string][]row) []chart {
	return []chart{
		subjects("50 timers a second: lateness in ms", all["steady-50"], "p50_ms", "p99_ms", "worst_ms"),
		subjects("3,000 at one instant: callbacks a second", all["herd"], "drained_per_second"),
		subjects("Bookings a second, one by one and by batch", all["bookings"], "adds_per_second", "batch_per_second"),
		subjects("Processor time of a timer in ms", all["steady-50"], "cpu_ms"),
	}
}

// subjects is a chart with a line for each subject and a series for each column.
func subjects(title string, rows []row, columns ...string) chart {
	c := chart{title: title}
	for _, name := range columns {
		c.series = append(c.series, strings.NewReplacer("_ms", "", "_per_second", "", "_", " ").Replace(name))
	}
	for _, r := range rows {
		l := line{label: r["subject"]}
		if r["preload"] != "" {
			l.label += ", preload " + r["preload"]
		}
		for _, name := range columns {
			l.series = append(l.series, column([]row{r}, name))
		}
		c.lines = append(c.lines, l)
	}
	return c
}

// compared are the subjects of the summary, with the heads of their columns.
var compared = [][2]string{
	{"wakecall/sqlite", "Wakecall, SQLite"}, {"wakecall/postgres", "Wakecall, PostgreSQL"},
	{"temporal-local/postgres", "bare Temporal, PostgreSQL"}, {"river/postgres", "River"}, {"asynq/redis", "Asynq"},
}

// performanceSummary is a table with a column for each compared subject.
func performanceSummary(all map[string][]row) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, subject := range compared {
		b.WriteString(" " + subject[1] + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(compared)) + "\n")
	for _, l := range []struct{ name, file, column, unit string }{
		{"lateness at 50 a second, p50", "steady-50", "p50_ms", " ms"}, {"p99", "steady-50", "p99_ms", " ms"},
		{"3,000 at one instant, drained per second", "herd", "drained_per_second", ""},
		{"bookings per second, one by one", "bookings", "adds_per_second", ""},
		{"processor time of a timer", "steady-50", "cpu_ms", " ms"},
		{"early, of 1,000", "steady-50", "early_of_1000", ""},
	} {
		b.WriteString("| " + l.name + " |")
		for _, subject := range compared {
			b.WriteString(" " + cell(all[l.file], subject[0], l.column) + l.unit + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// cell is the figure of a subject without its own preload.
func cell(rows []row, subject, column string) string {
	for _, r := range rows {
		if n, has := r.number(column); has && r["subject"] == subject && r["preload"] == "" {
			if n >= 1000 {
				return thousands(n)
			}
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	return fmt.Sprintf("(%s is missing)", subject)
}
