package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write(filepath.Join("..", "docs")); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// write updates the figures and summaries of a directory of documents.
func write(docs string) error {
	files, err := outputs(docs)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// outputs maps each file that is made from results to its text.
func outputs(docs string) (map[string]string, error) {
	all, err := readResults(filepath.Join(docs, "results"))
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		"reliability.svg": draw(faultCharts(all["faults"])),
		"performance.svg": draw(performanceCharts(all)),
	}
	for page, summaries := range map[string]map[string]string{
		"reliability.md": {"faults": faultSummary(all["faults"]), "fault-dispatches": dispatchSummary(all["fault-dispatches"])},
		"performance.md": {"steady-50": performanceSummary(all)},
	} {
		text, err := os.ReadFile(filepath.Join(docs, page))
		if err != nil {
			return nil, err
		}
		if files[page], err = fill(string(text), summaries); err != nil {
			return nil, fmt.Errorf("%s: %w", page, err)
		}
	}
	return files, nil
}
