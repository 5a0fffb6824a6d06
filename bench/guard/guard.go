// Package guard compares the cost of one timer with a baseline that is kept with the code.
// It compares counts and no times, so that its result does not depend on the machine.
package guard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// AllocsPerAdd is the name of the allocations for one add: from the client's request through
// the API to Temporal's client.
const AllocsPerAdd = "allocs_per_add"

// Counts are the counts by name.
type Counts map[string]float64

// Baseline is the limit of each count.
type Baseline map[string]Limit

// Limit is the upper limit of a count.
type Limit struct {
	Count float64 `json:"count"`
	// Slack is the fraction by which a count may exceed its limit: the store's background
	// work is counted too.
	Slack float64 `json:"slack,omitempty"`
}

// Load reads a baseline.
func Load(file string) (baseline Baseline, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &baseline)
	return baseline, err
}

// Save writes a baseline.
func (b Baseline) Save(file string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// With returns the baseline with other counts and the same slack.
func (b Baseline) With(counts Counts) Baseline {
	updated := Baseline{}
	for name, count := range counts {
		updated[name] = Limit{Count: count, Slack: b[name].Slack}
	}
	return updated
}

// Finding is the result of one comparison.
type Finding struct {
	Name   string
	Count  float64
	Limit  Limit
	Faulty bool
	Say    string
}

// Compare compares counts with the baseline. A count missing on either side is a fault.
func (b Baseline) Compare(counts Counts) (findings []Finding) {
	names := map[string]bool{}
	for name := range b {
		names[name] = true
	}
	for name := range counts {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		limit, known := b[name]
		count, counted := counts[name]
		finding := Finding{Name: name, Count: count, Limit: limit}
		switch most := limit.Count * (1 + limit.Slack); {
		case !known:
			finding.Faulty, finding.Say = true, "not in the baseline"
		case !counted:
			finding.Faulty, finding.Say = true, "was not counted"
		case count > most:
			finding.Faulty, finding.Say = true, fmt.Sprintf("worse: at most %.4g", most)
		case count < limit.Count*(1-limit.Slack):
			finding.Say = "better: update the baseline"
		}
		findings = append(findings, finding)
	}
	return findings
}

// ErrWorse is the error for a count that grew or is missing.
var ErrWorse = errors.New("a timer costs more than the baseline says")

// Hold writes the result of every comparison.
func (b Baseline) Hold(w io.Writer, counts Counts) (err error) {
	for _, finding := range b.Compare(counts) {
		if _, err := fmt.Fprintln(w, finding); err != nil {
			return err
		}
		if finding.Faulty {
			err = ErrWorse
		}
	}
	return err
}

// String is one line.
func (f Finding) String() string {
	return fmt.Sprintf("%-50s %8.4g  baseline %.4g  %s", f.Name, f.Count, f.Limit.Count, cmp.Or(f.Say, "as before"))
}
