package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link   = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	target = regexp.MustCompile("(?m)(?:^    |`)make ([a-z-]+)")
)

// pages maps every Markdown page to its text.
func pages(t *testing.T) map[string]string {
	found := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "bin" {
			return fs.SkipDir // what was built or installed is not ours
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(found), 10)
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	checked := 0
	for page, text := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), match[1]))
			require.NoError(t, err, "%s links to %s", page, match[1])
			checked++
		}
	}
	require.Greater(t, checked, 10, "the oracle sees links")
}

func TestPagesNameTargetsThatExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	checked := 0
	for page, text := range pages(t) {
		for _, match := range target.FindAllStringSubmatch(text, -1) {
			require.True(t, strings.Contains(string(makefile), "\n"+match[1]+":"), "%s names make %s", page, match[1])
			checked++
		}
	}
	require.Greater(t, checked, 10, "the oracle sees targets")
}

// aged is a moment in a command that was ahead when the page was written.
var aged = regexp.MustCompile(`(?:due_at|latest_at|start_at|end_at|_from|_to|ExecutionTime)["']?\s*[:=<>]+\s*["']?20[0-9]{2}-`)

// Commands on a page work whenever they are read.
func TestPagesDoNotAge(t *testing.T) {
	t.Parallel()
	for page, text := range pages(t) {
		require.Empty(t, aged.FindAllString(text, -1), page)
	}
	require.Regexp(t, aged, `"due_at": "2026-11-21T09:30:00Z"`)
	require.Regexp(t, aged, `ended_from=2026-11-21`)
}
