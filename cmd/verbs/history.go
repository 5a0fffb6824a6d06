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

// historyVerbs are the commands that explain a timer.
type historyVerbs struct{ *shell }

func (v historyVerbs) history() *cobra.Command {
	var limit int
	c := reading(v.shell, &cobra.Command{Use: "history", Short: "Show the history of a timer: what happened, and who did it"}, v.showHistory,
		func(c *cobra.Command, wakecall *client.Client, key wire.Key) ([]timer.HistoryEntry, error) {
			return readHistory(c, wakecall, key, limit)
		})
	limitFlag(c, &limit)
	return c
}

// readHistory reads the pages of a history, the latest first, and returns the entries in order of
// time. A limit drops the oldest entries.
func readHistory(c *cobra.Command, wakecall *client.Client, key wire.Key, limit int) (entries []timer.HistoryEntry, err error) {
	for page, err := range wakecall.Timers.History(c.Context(), key) {
		if err != nil {
			return nil, err
		}
		entries = slices.Concat(page, entries)
		if limit > 0 && len(entries) >= limit {
			return entries[len(entries)-limit:], nil
		}
	}
	return entries, nil
}

func (v historyVerbs) showHistory(entries []timer.HistoryEntry) {
	var rows [][]string
	for _, entry := range entries {
		rows = append(rows, []string{v.when(entry.At), v.event(entry.Event), authorOf(entry), detailsOf(entry)})
	}
	v.table([]string{"WHEN", v.coloured(plain, "WHAT"), "WHO", "MORE"}, rows)
}

func (v historyVerbs) event(event timer.HistoryEvent) string {
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
	return v.coloured(colour, string(event))
}

// authorOf returns the author of an entry.
func authorOf(entry timer.HistoryEntry) string {
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

// detailsOf returns the details of an entry, in one line.
func detailsOf(entry timer.HistoryEntry) string {
	var parts []string
	add := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	if entry.Occurrence != 0 {
		add("occurrence %d", entry.Occurrence)
	}
	if entry.DueAt != 0 {
		add("due %s", entry.DueAt)
	}
	for _, change := range entry.Changes {
		add("%s", strings.TrimSuffix(change.Field+" "+fmt.Sprint(orNothing(change.To)), " "))
	}
	if entry.Result != "" {
		add("%s", entry.Result)
	}
	if entry.Revision != 0 {
		add("revision %d", entry.Revision)
	}
	if a := entry.Attempt; a != nil {
		add("round %d, number %d: %s, %d %s, %dms", a.Round, a.Number, a.Result, a.Status, a.Class, a.TookMS)
	}
	if entry.Who == nil && !entry.WhoUnknown && entry.Identity != "" {
		add("%s", entry.Identity)
	}
	if entry.LastFailure != nil {
		add("%s", entry.LastFailure.Message)
	}
	if entry.Reason != "" {
		add("%s", entry.Reason)
	}
	return strings.Join(parts, "; ")
}

func orNothing(value any) any {
	if value == nil {
		return ""
	}
	return value
}
