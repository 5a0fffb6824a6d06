package search

import "github.com/wakecall/wakecall/internal/tuning"

// Saved are the views that are asked for most, failed first. Each is a link.
var Saved = []struct{ Key, Search string }{
	{"view.failed", "status:failed ended:24h"},
	{"view.late", "is:late"},
	{"view.soon", "status:scheduled due:1h sort:due"},
	{"view.held", "is:held"},
	{"view.recurring", "is:recurring"},
	{"view.done", "status:delivered ended:1h"},
	{"view.all", ""},
}

// hints are suggestions that fit every installation.
var hints = []string{
	"status:failed", "status:scheduled", "status:delivering", "status:delivered", "status:expired", "status:cancelled", "status:paused",
	"is:late", "is:held", "is:recurring", "due:today", "due:tomorrow", "due:1h", "due:03:00..03:10", "ended:1h", "ended:24h",
	"sort:due", "sort:-due", "label:",
}

// Hints are suggestions for the search box, with the first business types that the user sees.
func Hints(types []string) []string {
	var all []string
	for _, businessType := range types[:min(len(types), tuning.LookTypes)] {
		all = append(all, "type:"+businessType)
	}
	return append(all, hints...)
}
