package report

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Report holds the results of one run.
type Report struct {
	Machine Machine `json:"machine"`
	Tables  []Table `json:"tables"`
	// Verdicts are those of the [Targets].
	Verdicts []Verdict `json:"targets"`
	// Rounds are the figures behind the tables.
	Rounds []Round `json:"rounds"`
}

// Round is one stored result.
type Round struct {
	Subject  string  `json:"subject"`
	Scenario string  `json:"scenario"`
	Round    int     `json:"round"`
	Figures  Figures `json:"figures"`
	// CPU is in milliseconds, by program.
	CPU map[string]float64 `json:"cpu_ms,omitempty"`
	// Memory is the memory of a subject when all was booked, in bytes by program.
	Memory map[string]int64 `json:"memory_booked_bytes,omitempty"`
	// Tenths divide the time until the last booking.
	Tenths []Tenth `json:"tenths,omitempty"`
}

// New makes a report.
func New(results []Result) Report {
	report := Report{Machine: thisMachine(), Tables: Summarise(results)}
	report.Verdicts = Judge(report.Tables, Targets())
	for _, result := range results {
		round := Round{
			Subject: result.Subject, Scenario: result.Plan.Name, Round: result.Round + 1,
			Figures: result.Figures(), CPU: map[string]float64{}, Memory: result.Pending, Tenths: result.Tenths(),
		}
		for program, cpu := range result.Spent.CPU {
			round.CPU[program] = milliseconds(cpu)
		}
		report.Rounds = append(report.Rounds, round)
	}
	return report
}

// Write writes the report to a directory: report.txt, report.json and one picture of it.
func (r Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		write(dir, "report.txt", func(w io.Writer) error { return Text(w, r) }),
		write(dir, "report.json", r.encode),
		write(dir, "report.svg", func(w io.Writer) error { return Picture(w, r.Tables) }),
	)
}

func (r Report) encode(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func write(dir, name string, content func(io.Writer) error) error {
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	return errors.Join(content(file), file.Close())
}
