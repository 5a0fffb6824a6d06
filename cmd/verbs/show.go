package verbs

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
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

func (s *shell) status(status timer.Status) string {
	colour := plain
	switch status {
	case timer.Delivered:
		colour = green
	case timer.Failed, timer.Expired:
		colour = red
	case timer.Delivering:
		colour = yellow
	case timer.Scheduled:
		colour = blue
	default:
	}
	return s.coloured(colour, string(status))
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

// stopping marks the status of an object with a requested stop.
func stopping(requested bool) string {
	if requested {
		return ", cancel requested"
	}
	return ""
}

func (s *shell) showTimers(views []timer.View) {
	var rows [][]string
	for _, view := range views {
		rows = append(rows, []string{
			s.status(view.Status) + stopping(view.CancelRequested), view.String(), s.when(view.DueAt), fmt.Sprint(view.Attempts),
			failureOf(view.LastFailure), s.wait(view.Wait),
		})
	}
	s.table([]string{s.coloured(plain, "STATUS"), "TIMER", "DUE", "ATTEMPTS", "LAST FAILURE", "WAITS FOR"}, rows)
}

// wait returns the reason for a wait, with its holder and its end.
func (s *shell) wait(w delivery.Wait) string {
	if w.WaitsFor == "" {
		return "-"
	}
	text := string(w.WaitsFor)
	if w.WaitsBy != "" {
		text += ", by " + w.WaitsBy
	}
	if w.WaitsUntil != 0 {
		text += ", until " + s.when(w.WaitsUntil)
	}
	if w.WaitsNote != "" {
		text += ": " + w.WaitsNote
	}
	return text
}

func failureOf(f *delivery.Failure) string {
	if f == nil {
		return "-"
	}
	return f.Message
}

func (s *shell) showTimer(view timer.View) { s.showTimers([]timer.View{view}) }

func (s *shell) showAttempts(attempts []delivery.ShownAttempt) {
	var rows [][]string
	for _, a := range attempts {
		colour, answer := green, fmt.Sprint(a.Status)
		if a.Result != delivery.ResultDelivered {
			colour = red
		}
		if a.Status == 0 {
			answer = string(a.Class)
		}
		rows = append(rows, []string{
			s.coloured(colour, string(a.Result)), fmt.Sprint(a.Round), fmt.Sprint(a.Number), s.when(a.EndedAt),
			fmt.Sprintf("%dms", a.TookMS), answer, a.RetryIn.String(), a.Worker,
		})
	}
	s.table([]string{s.coloured(plain, "RESULT"), "ROUND", "ATTEMPT", "ENDED", "TOOK", "ANSWER", "RETRY IN", "WORKER"}, rows)
}

func (s *shell) showPolicies(policies []policy.Policy) {
	var rows [][]string
	for _, p := range policies {
		paused := "-"
		if p.Paused {
			paused = strings.TrimSuffix("paused by "+p.PausedBy, " by ")
		}
		rows = append(rows, []string{p.BusinessType, fmt.Sprint(p.Version), p.Callback.Target(), paused})
	}
	s.table([]string{"TYPE", "VERSION", "CALLBACK", "PAUSED"}, rows)
}

// showHeld shows the pauses of callbacks, and notes if the list may be incomplete.
func (s *shell) showHeld(held policy.Held) {
	if held.Incomplete {
		s.complain("More may be held back: Temporal did not answer.\n")
	}
	s.showEmergencies(held.Paused)
}

func (s *shell) showEmergencies(paused []policy.Emergency) {
	var rows [][]string
	for _, e := range paused {
		what := e.BusinessType
		if e.Everything {
			what = "everything"
		}
		note := e.Note
		if e.ByPolicy {
			note = "paused by its policy"
		}
		rows = append(rows, []string{what, s.when(e.Since), e.Author, note})
	}
	s.table([]string{"PAUSED", "SINCE", "BY", "NOTE"}, rows)
}
