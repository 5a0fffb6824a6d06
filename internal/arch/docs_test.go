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
