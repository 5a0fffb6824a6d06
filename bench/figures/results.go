package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// row is a line of a file of results, by the names of its columns.
type row map[string]string

// number returns the number of a column, and whether there is one.
func (r row) number(column string) (float64, bool) {
	n, err := strconv.ParseFloat(r[column], 64)
	return n, err == nil
}

// readResults reads every file of a directory of results, by its name without its ending.
func readResults(dir string) (map[string][]row, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return nil, err
	}
	all := map[string][]row{}
	for _, path := range paths {
		rows, err := readRows(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".csv")] = rows
	}
	return all, nil
}

func readRows(path string) (rows []row, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	for _, line := range lines[1:] {
		r := row{}
		for i, column := range lines[0] {
			r[column] = line[i]
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// groups returns the values of a column in the order in which they first appear, and the rows of
// each.
func groups(rows []row, column string) (names []string, of map[string][]row) {
	of = map[string][]row{}
	for _, r := range rows {
		if _, seen := of[r[column]]; !seen {
			names = append(names, r[column])
		}
		of[r[column]] = append(of[r[column]], r)
	}
	return names, of
}

// fill replaces the text between the marks of each summary on a page.
func fill(page string, summaries map[string]string) (string, error) {
	const end = "<!-- end of results -->"
	for name, summary := range summaries {
		begin := fmt.Sprintf("<!-- made by bench/figures from results/%s.csv -->\n", name)
		before, rest, found := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", fmt.Errorf("no marks for %s", name)
		}
		page = before + begin + summary + end + after
	}
	return page, nil
}
