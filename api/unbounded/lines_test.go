package unbounded

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// longestRead is how many bytes the lines of these tests may have.
const longestRead = 8

// readLines reads all lines, those that are too long as "too long", each with its number.
func readLines(in io.Reader) (texts []string, numbers []int, err error) {
	for l := NewLines(in, longestRead); ; {
		line, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return texts, numbers, nil
		case errors.Is(err, ErrLongLine):
			line = []byte("too long")
		case err != nil:
			return texts, numbers, err
		}
		texts, numbers = append(texts, string(line)), append(numbers, l.Number)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		texts   []string
		numbers []int
	}{
		"":                     {nil, nil},
		"\n\r\n  \t\n":         {nil, nil},
		"{}":                   {[]string{"{}"}, []int{1}},
		"{}\n":                 {[]string{"{}"}, []int{1}},
		" {} \r\n\r\n[1]\r\n":  {[]string{"{}", "[1]"}, []int{1, 3}},
		"12345678\n12345678\n": {[]string{"12345678", "12345678"}, []int{1, 2}},
		"12345678\r\n1\n":      {[]string{"12345678", "1"}, []int{1, 2}},
		"12345678":             {[]string{"12345678"}, []int{1}},
		"123456789\n1\n":       {[]string{"too long", "1"}, []int{1, 2}},
		"\n123456789":          {[]string{"too long"}, []int{2}},
		strings.Repeat("1", 1000) + "\n1\n" + strings.Repeat("1", 1000): {[]string{"too long", "1", "too long"}, []int{1, 2, 3}},
		"a\rb\n": {[]string{"a\rb"}, []int{1}},
	} {
		texts, numbers, err := readLines(strings.NewReader(text))
		require.NoError(t, err, "%q", text)
		require.Equal(t, want.texts, texts, "%q", text)
		require.Equal(t, want.numbers, numbers, "%q", text)
	}
}

// A text that breaks off is not taken for one that ends, wherever it does.
func TestLinesThatBreakOff(t *testing.T) {
	t.Parallel()
	broken := iotest.ErrReader(io.ErrUnexpectedEOF)
	for _, text := range []string{"", "{}", "{}\n", "{}\n{", "123456789", "123456789012345678"} {
		_, _, err := readLines(io.MultiReader(strings.NewReader(text), broken))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%q", text)
	}
}

// However a text arrives, its lines are those between its line feeds.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\r\n\n[1]\n12345678\n123456789\n"))
	f.Add([]byte("\xff\x00\n \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		texts, numbers, err := readLines(iotest.OneByteReader(bytes.NewReader(text)))
		require.NoError(t, err)
		whole, again, err := readLines(bytes.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, texts, whole)
		require.Equal(t, numbers, again)
		between := strings.Split(string(text), "\n")
		for i, line := range texts {
			want := strings.Trim(between[numbers[i]-1], " \t\r\n")
			if line != "too long" || want == line {
				require.Equal(t, want, line)
			} else {
				require.Greater(t, len(between[numbers[i]-1]), longestRead)
			}
			between[numbers[i]-1] = ""
		}
		require.Empty(t, strings.Trim(strings.Join(between, ""), " \t\r\n"), "no line is lost")
	})
}
