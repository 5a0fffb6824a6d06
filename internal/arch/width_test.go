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

// whole is a text that cannot go on in a second line: the tag of a field, a pattern, a piece of XML.
var whole = regexp.MustCompile("`[^`]{60,}")

// catalogues have a message in a line, so that their languages can be read side by side.
var catalogues = regexp.MustCompile(`/console/words/\w+\.go$`)

// wideLines returns the lines of a file that are too wide.
func wideLines(source string) (wide []string) {
	for line := range strings.Lines(source) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > widest && !whole.MatchString(line) {
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
			switch {
			case err != nil, entry.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
				return err
			case catalogues.MatchString(filepath.ToSlash(path)):
				return nil
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
	wide, long := strings.Repeat("f(1), ", 30), strings.Repeat("long ", 40)
	message, tag := `errors.New("`+long+`")`, "Name string `help:\""+long+"\"`"
	require.Equal(t, []string{wide + "\n", message + "\n"}, wideLines("a\n"+wide+"\n"+message+"\n"+tag+"\n"))
}
