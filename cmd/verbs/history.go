package verbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func (s *shell) history() *cobra.Command {
	var limit int
	c := reading(s, &cobra.Command{Use: "history", Short: "Show the history of a timer: what happened, and who did it"}, s.showHistory,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) ([]timer.HistoryEntry, error) {
			return storyOf(c, wakecall, key, limit)
		})
	limitFlag(c, &limit)
	return c
}

// storyOf reads the pages of a history, which go back from the latest, and puts them in order. A
// limit keeps only the end.
func storyOf(c *cobra.Command, wakecall *client.Client, key wire.Key, limit int) (story []timer.HistoryEntry, err error) {
	for page, err := range wakecall.Timers.History(c.Context(), key) {
		if err != nil {
			return nil, err
		}
		story = slices.Concat(page, story)
		if limit > 0 && len(story) >= limit {
			return story[len(story)-limit:], nil
		}
	}
	return story, nil
}

func (s *shell) showHistory(story []timer.HistoryEntry) {
	var rows [][]string
	for _, entry := range story {
		rows = append(rows, []string{s.when(entry.At), s.event(entry.Event), byWhom(entry), whatOf(entry)})
	}
	s.table([]string{"WHEN", s.coloured(plain, "WHAT"), "WHO", "MORE"}, rows)
}

func (s *shell) event(event timer.HistoryEvent) string {
	colour := plain
	switch event {
	case timer.HistoryDelivered, timer.HistoryAcknowledged:
		colour = green
	case timer.HistoryFailed, timer.HistoryExpired, timer.HistoryNacked, timer.HistoryTerminated:
		colour = red
	case timer.HistoryAttempt, timer.HistoryHandedOut:
		colour = yellow
	default:
	}
	return s.coloured(colour, string(event))
}

// byWhom returns the author of an entry.
func byWhom(entry timer.HistoryEntry) string {
	switch {
	case entry.WhoUnknown:
		return strings.TrimSuffix("unknown ("+entry.Identity+")", " ()")
	case entry.Who == nil:
		return "-"
	}
	text := entry.Who.Name
	for _, more := range []string{entry.Who.Role, entry.Who.By, entry.Who.Via, entry.Who.From, entry.Who.Job} {
		if more != "" {
			text += ", " + more
		}
	}
	return text
}

// whatOf returns the details of an entry, in one line.
func whatOf(entry timer.HistoryEntry) string {
	var parts []string
	say := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	if entry.Occurrence != 0 {
		say("occurrence %d", entry.Occurrence)
	}
	if entry.DueAt != 0 {
		say("due %s", entry.DueAt)
	}
	for _, change := range entry.Changes {
		say("%s", strings.TrimSuffix(change.Field+" "+fmt.Sprint(orNothing(change.To)), " "))
	}
	if entry.Result != "" {
		say("%s", entry.Result)
	}
	if entry.Revision != 0 {
		say("revision %d", entry.Revision)
	}
	if a := entry.Attempt; a != nil {
		say("round %d, number %d: %s, %d %s, %dms", a.Round, a.Number, a.Result, a.Status, a.Class, a.TookMS)
	}
	if entry.Who == nil && !entry.WhoUnknown && entry.Identity != "" {
		say("%s", entry.Identity)
	}
	if entry.LastFailure != nil {
		say("%s", entry.LastFailure.Message)
	}
	if entry.Reason != "" {
		say("%s", entry.Reason)
	}
	return strings.Join(parts, "; ")
}

func orNothing(value any) any {
	if value == nil {
		return ""
	}
	return value
}
