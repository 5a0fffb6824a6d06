package main

import (
	"fmt"
	"strconv"
	"strings"
)

// faultCharts shows how late timers were under each kind of fault, a mark for each run.
func faultCharts(rows []row) []chart {
	c := chart{title: "Lateness by kind of fault, in seconds; a mark for each run", series: []string{"p99", "worst"}}
	kinds, of := groups(rows, "kind")
	for _, kind := range kinds {
		c.lines = append(c.lines, line{kind, [][]float64{column(of[kind], "late_p99_s"), column(of[kind], "late_worst_s")}})
	}
	return []chart{c}
}

func column(rows []row, name string) (numbers []float64) {
	for _, r := range rows {
		if n, has := r.number(name); has {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// faultSummary is a table with a line for each kind of fault.
func faultSummary(rows []row) string {
	var b strings.Builder
	b.WriteString("| fault | runs | timers | lost | early | duplicates | late, worst p99 | worst of all |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	kinds, of := groups(rows, "kind")
	for _, kind := range kinds {
		b.WriteString(faultLine(kind, of[kind]))
	}
	b.WriteString(faultLine("**all**", rows))
	return b.String()
}

func faultLine(name string, rows []row) string {
	timers := 0.0
	for _, r := range rows {
		runs, _ := r.number("runs")
		each, _ := r.number("timers")
		timers += runs * each
	}
	return fmt.Sprintf("| %s | %.0f | %s | %.0f | %.0f | %.0f | %s | %s |\n", name, sum(rows, "runs"), thousands(timers),
		sum(rows, "lost"), sum(rows, "early"), sum(rows, "duplicates"), seconds(most(rows, "late_p99_s")), seconds(most(rows, "late_worst_s")))
}

// dispatchSummary is a table with a line for each fault under a dispatch and each deployment.
func dispatchSummary(rows []row) string {
	var b strings.Builder
	b.WriteString("| deployment | runs | items | lost | duplicates | most duplicates of a run |\n|---|---|---|---|---|---|\n")
	names, of := groups(rows, "deployment")
	for _, name := range names {
		fmt.Fprintf(&b, "| %s | %d | %s | %.0f | %.0f | %.0f |\n", name, len(of[name]), thousands(sum(of[name], "items")),
			sum(of[name], "lost"), sum(of[name], "duplicates"), most(of[name], "duplicates"))
	}
	return b.String()
}

func sum(rows []row, name string) (total float64) {
	for _, n := range column(rows, name) {
		total += n
	}
	return total
}

func most(rows []row, name string) (largest float64) {
	for _, n := range column(rows, name) {
		largest = max(largest, n)
	}
	return largest
}

func seconds(n float64) string {
	return strconv.FormatFloat(n, 'f', -1, 64) + " s"
}

// thousands writes a number with a comma before each three of its digits.
func thousands(n float64) string {
	digits := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
