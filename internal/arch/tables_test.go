package arch

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	table   = regexp.MustCompile(`(?m)(?:^\|.*\n)+`)
	escaped = regexp.MustCompile("`[^`]*`|\\\\\\|")
)

// uneven returns the rows of a page's tables that have more or fewer cells than the head. A reader
// does not see a cell too many.
func uneven(page string) (rows []string) {
	for _, found := range table.FindAllString(fenced.ReplaceAllString(page, "")+"\n", -1) {
		lines := strings.Split(strings.TrimSuffix(found, "\n"), "\n")
		for _, line := range lines[1:] {
			if cells(line) != cells(lines[0]) {
				rows = append(rows, line)
			}
		}
	}
	return rows
}

// cells is the number of cells of a row, and two.
func cells(row string) int { return len(strings.Split(escaped.ReplaceAllString(row, ""), "|")) }

func TestTablesAreEven(t *testing.T) {
	t.Parallel()
	checked := 0
	for name, text := range pages(t) {
		require.Empty(t, uneven(text), name)
		checked += len(table.FindAllString(text, -1))
	}
	require.Greater(t, checked, 100, "the oracle sees tables")
	require.Equal(t, []string{"| c | d | e |", "| f |"}, uneven("| a | b |\n|---|---|\n| c | d | e |\n| `|` | \\| |\n| f |\n\n| g |\n|---|\n"))
}
