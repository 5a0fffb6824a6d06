package arch

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxRecordLines is about one page.
const maxRecordLines = 70

var (
	recordName  = regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
	recordHead  = regexp.MustCompile(`^# (\d{4}) (\S.*)\n\n- Status: (accepted|superseded by \d{4})\n- Date: 20\d\d-[01]\d-[0-3]\d\n- Supersedes: (nothing|\d{4} \(.+\)(?:, \d{4} \(.+\))*)\n\n`)
	recordRow   = regexp.MustCompile(`(?m)^\| \[(\d{4})\]\((\S+)\) \| (.+) \|$`)
	superseding = regexp.MustCompile(`\b(\d{4}) \(`)
	// recordRef is a reference to a record: by its file, as "decision 0008", or in brackets in a
	// comment.
	recordRef = regexp.MustCompile(`decisions/(\d{4})|[Dd]ecision (\d{4})\b|//.*\((0\d{3})\)`)
)

// faultsOfRecord returns the faults in the form of a record.
func faultsOfRecord(name, text string) (faults []string) {
	head := recordHead.FindStringSubmatch(text)
	switch {
	case !recordName.MatchString(name):
		faults = append(faults, "a name of another form")
	case head == nil:
		faults = append(faults, "no number, status, date and what it supersedes at its beginning")
	case head[1] != name[:4]:
		faults = append(faults, "another number than its file")
	}
	if strings.Count(text, "\n") > maxRecordLines {
		faults = append(faults, "more than a page")
	}
	return faults
}

// records maps the number of each decision record to its text.
func records(t *testing.T) map[string]string {
	found := map[string]string{}
	dir := filepath.Join("..", "..", "docs", "decisions")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Name() == "README.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		require.Empty(t, faultsOfRecord(entry.Name(), string(text)), entry.Name())
		number := entry.Name()[:4]
		require.NotContains(t, found, number, "two records have this number")
		found[number] = string(text)
	}
	require.Greater(t, len(found), 20, "the oracle sees records")
	return found
}

func TestDecisionsHaveTheirForm(t *testing.T) {
	t.Parallel()
	all := records(t)
	superseded := map[string]string{}
	for number, text := range all {
		head := recordHead.FindStringSubmatch(text)
		for _, match := range superseding.FindAllStringSubmatch(head[4], -1) {
			require.NotContains(t, all, match[1], "%s supersedes a record that is there", number)
			require.NotContains(t, superseded, match[1], "%s is superseded twice", match[1])
			superseded[match[1]] = number
		}
	}
	require.Greater(t, len(superseded), 10, "the oracle sees superseded records")

	good := "# 0001 A title\n\n- Status: accepted\n- Date: 2026-11-21\n- Supersedes: 0002 (old), 0003 (older)\n\n## Problem\n"
	require.Empty(t, faultsOfRecord("0001-a-title.md", good))
	for _, wrong := range []string{
		strings.Replace(good, "accepted", "good", 1), strings.Replace(good, "- Date: 2026-11-21\n", "", 1),
		strings.Replace(good, "0001", "0004", 1), strings.Replace(good, "2026-11-21", "yesterday", 1),
		good + strings.Repeat("\n", maxRecordLines),
	} {
		require.Len(t, faultsOfRecord("0001-a-title.md", wrong), 1, wrong)
	}
}

// The index has a line for each record, in order, with its title.
func TestTheIndexOfDecisionsIsWhole(t *testing.T) {
	t.Parallel()
	all := records(t)
	index, err := os.ReadFile(filepath.Join("..", "..", "docs", "decisions", "README.md"))
	require.NoError(t, err)
	var listed []string
	for _, row := range recordRow.FindAllStringSubmatch(string(index), -1) {
		require.True(t, strings.HasPrefix(row[2], row[1]), "%s leads to %s", row[1], row[2])
		require.True(t, strings.HasPrefix(all[row[1]], "# "+row[1]+" "+row[3]+"\n"), "the title of %s", row[1])
		listed = append(listed, row[1])
	}
	require.Equal(t, slices.Sorted(maps.Keys(all)), listed)
}

// unresolved returns the references of a text to missing records.
func unresolved(text string, all map[string]string) (missing []string, seen int) {
	for _, match := range recordRef.FindAllStringSubmatch(text, -1) {
		number := match[1] + match[2] + match[3]
		if _, ok := all[number]; !ok {
			missing = append(missing, number)
		}
		seen++
	}
	return missing, seen
}

// Every reference to a decision in pages and comments leads to a record.
func TestReferencesToDecisionsLeadToOne(t *testing.T) {
	t.Parallel()
	all, seen := records(t), 0
	for path, text := range everySource(t) {
		missing, n := unresolved(text, all)
		require.Empty(t, missing, path)
		seen += n
	}
	require.Greater(t, seen, 100, "the oracle sees references")

	missing, _ := unresolved("// a wait (0999)\nsee decision 0998 and docs/decisions/0997-x.md (0008)", all)
	require.Equal(t, []string{"0999", "0998", "0997"}, missing)
}

// everySource maps every page, Go file, Makefile and YAML file of the repository to its text. It
// skips built or installed files, and this file, which has references that lead nowhere.
func everySource(t *testing.T) map[string]string {
	found := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"bin", "node_modules", ".git", "testdata"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir(), entry.Name() == "decisions_test.go":
			return nil
		case entry.Name() != "Makefile" && !slices.Contains([]string{".md", ".go", ".mod", ".yml", ".yaml"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	require.NoError(t, err)
	return found
}
