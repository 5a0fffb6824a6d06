package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// widest is how many characters a line of code may have.
const widest = 140

// longText is a text that a line has to hold whole: a message, a tag or a pattern.
var longText = regexp.MustCompile("\"[^\"]{60,}\"|`[^`]{60,}")

// wideLines returns the lines of a file that are too wide.
func wideLines(source string) (wide []string) {
	for line := range strings.Lines(source) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > widest && !longText.MatchString(line) {
			wide = append(wide, line)
		}
	}
	return wide
}

func TestLinesAreNotWide(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, floor := range spoken {
		err := filepath.WalkDir(filepath.Join("..", "..", floor), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			seen++
			source, err := os.ReadFile(path)
			require.Empty(t, wideLines(string(source)), path)
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, seen, 300, "the oracle sees files")
}

// The control.
func TestWideLinesAreSeen(t *testing.T) {
	t.Parallel()
	wide, long := strings.Repeat("f(1), ", 30), `errors.New("`+strings.Repeat("long ", 40)+`")`
	require.Equal(t, []string{wide + "\n"}, wideLines("a\n"+wide+"\n"+long+"\n"))
}
