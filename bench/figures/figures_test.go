package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var docs = filepath.Join("..", "..", "docs")

// The figures and summaries are those of the results.
func TestDocumentsShowTheResults(t *testing.T) {
	t.Parallel()
	files, err := outputs(docs)
	require.NoError(t, err)
	require.Len(t, files, 4)
	for name, text := range files {
		found, err := os.ReadFile(filepath.Join(docs, name))
		require.NoError(t, err)
		require.Equal(t, string(found), text, "run (cd bench && go run ./figures): %s", name)
	}
}

// The control: a result that changes shows in the figure and in the summary.
func TestAChangedResultShows(t *testing.T) {
	t.Parallel()
	all, err := readResults(filepath.Join(docs, "results"))
	require.NoError(t, err)
	changed := maps.Clone(all["faults"][0])
	changed["lost"], changed["late_worst_s"] = "1", "77"
	faults := append([]row{changed}, all["faults"][1:]...)
	require.NotEqual(t, draw(faultCharts(all["faults"])), draw(faultCharts(faults)))
	require.Contains(t, faultSummary(faults), "| 1 | 0 |")
	require.NotContains(t, faultSummary(all["faults"]), "| 1 | 0 |")

	require.NotContains(t, performanceSummary(all), "missing")
	delete(all, "herd")
	require.Contains(t, performanceSummary(all), "(wakecall/sqlite is missing)")
}

func TestAPageWithoutMarksIsRefused(t *testing.T) {
	t.Parallel()
	page := "a\n<!-- made by bench/figures from results/x.csv -->\nold\n<!-- end of results -->\nb\n"
	filled, err := fill(page, map[string]string{"x": "new\n"})
	require.NoError(t, err)
	require.Equal(t, strings.Replace(page, "old", "new", 1), filled)
	_, err = fill("a\n", map[string]string{"x": "new\n"})
	require.Error(t, err)
}

// Every file of results is named by a page.
func TestPagesNameEveryFileOfResults(t *testing.T) {
	t.Parallel()
	all, err := readResults(filepath.Join(docs, "results"))
	require.NoError(t, err)
	require.Greater(t, len(all), 20)
	text := ""
	for _, page := range []string{"reliability.md", "performance-data.md"} {
		read, err := os.ReadFile(filepath.Join(docs, page))
		require.NoError(t, err)
		text += string(read)
	}
	for name := range all {
		require.Contains(t, text, "results/"+name+".csv)", name)
	}
}
