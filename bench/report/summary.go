package report

import (
	"cmp"
	"slices"
)

// Spread is a figure over the rounds.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// Row is one subject in one scenario, over all rounds.
type Row struct {
	Subject string             `json:"subject"`
	Figures map[Measure]Spread `json:"figures,omitempty"`
	// Notes name the skipped scenarios, and the reasons why a round does not count.
	Notes []string `json:"notes,omitempty"`
	// Answers are those to changes, over all rounds.
	Answers map[string]int `json:"answers,omitempty"`
}

// Table is one scenario.
type Table struct {
	Scenario string `json:"scenario"`
	Rows     []Row  `json:"rows"`
}

// Summarise makes a table of each scenario, in the order of the results.
func Summarise(results []Result) (tables []Table) {
	var scenarios, subjects []string
	cells := map[[2]string][]Result{}
	for _, result := range results {
		scenarios, subjects = appendNew(scenarios, result.Plan.Name), appendNew(subjects, result.Subject)
		at := [2]string{result.Plan.Name, result.Subject}
		cells[at] = append(cells[at], result)
	}
	slices.Sort(subjects)
	for _, scenario := range scenarios {
		table := Table{Scenario: scenario}
		for _, subject := range subjects {
			if rounds := cells[[2]string{scenario, subject}]; len(rounds) > 0 {
				table.Rows = append(table.Rows, row(subject, rounds))
			}
		}
		tables = append(tables, table)
	}
	return tables
}

func appendNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// row combines the rounds of one subject, without the invalid ones.
func row(subject string, rounds []Result) Row {
	row := Row{Subject: subject, Figures: map[Measure]Spread{}, Answers: map[string]int{}}
	values := map[Measure][]float64{}
	for _, result := range rounds {
		for _, note := range result.notes() {
			row.Notes = appendNew(row.Notes, note)
		}
		for what, n := range result.Outcome.Calls.Answers {
			row.Answers[what] += n
		}
		if result.Outcome.Invalid != "" {
			continue
		}
		for measure, figure := range result.Figures() {
			values[measure] = append(values[measure], figure)
		}
	}
	for measure, figures := range values {
		row.Figures[measure] = spreadOf(measure, figures)
	}
	return row
}

// spreadOf takes the middle round, or the worst one if the figure must be 0.
func spreadOf(measure Measure, figures []float64) Spread {
	slices.SortFunc(figures, cmp.Compare)
	spread := Spread{Median: median(figures), Least: figures[0], Most: figures[len(figures)-1]}
	if counts[measure] {
		spread.Median = spread.Most
	}
	return spread
}

// median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
