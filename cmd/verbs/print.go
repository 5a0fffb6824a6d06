package verbs

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/terminal"
)

// printJSON prints an answer of the API. A nil list prints as [].
func (s *shell) printJSON(answer any) error {
	if list := reflect.ValueOf(answer); list.Kind() == reflect.Slice && list.IsNil() {
		answer = []any{}
	}
	encoder := json.NewEncoder(terminal.Writer(s.Out))
	encoder.SetIndent("", "  ")
	return encoder.Encode(answer)
}

// showDocument shows a value without a table.
func (s *shell) showDocument(answer any) { _ = s.printJSON(answer) }

// printEach prints a list line by line, as it arrives. It ends with the first error, including
// one of printing.
func printEach[T any](s *shell, list iter.Seq2[T, error], line func(T) string) error {
	encoder := json.NewEncoder(terminal.Writer(s.Out))
	for item, err := range list {
		switch {
		case err != nil:
		case s.json:
			err = encoder.Encode(item)
		default:
			_, err = fmt.Fprintln(s.Out, strings.TrimRight(line(item), " "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The codes of the colours have one length, to keep columns aligned.
const (
	plain  = "\x1b[39m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	blue   = "\x1b[34m"
	reset  = "\x1b[0m"
)

func (s *shell) coloured(colour, text string) string {
	if !s.Colour {
		return text
	}
	return colour + text + reset
}

// table prints rows below their headings.
func (s *shell) table(headings []string, rows [][]string) {
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.Join(headings, "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = s.safe(row[i])
		}
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush()
}

// safe returns text that a terminal may show, in its colour.
func (s *shell) safe(text string) string {
	for _, colour := range []string{plain, red, green, yellow, blue} {
		if inner, coloured := strings.CutPrefix(text, colour); s.Colour && coloured {
			return colour + terminal.Safe(strings.TrimSuffix(inner, reset)) + reset
		}
	}
	return terminal.Safe(text)
}

// when returns an instant and its distance from now.
func (s *shell) when(at wire.Instant) string {
	if at == 0 {
		return "-"
	}
	text := at.Time().Local().Format("2006-01-02 15:04:05")
	left := at.Until(s.Now())
	if left < 0 {
		return text + " (" + short(-left) + " ago)"
	}
	return text + " (in " + short(left) + ")"
}

// short returns a duration in one unit.
func short(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return fmt.Sprintf("%ds", d/time.Second)
	}
}

// complain prints to the error stream.
func (s *shell) complain(format string, values ...any) {
	_, _ = fmt.Fprintf(terminal.Writer(s.Err), format, values...)
}

func (s *shell) eraseLine() { _, _ = io.WriteString(s.Err, "\r\x1b[K") }
