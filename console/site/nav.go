package site

import (
	"cmp"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/internal/auth"
)

// tab is one part of the console, as the top of each page names it.
type tab struct {
	Name string
	// Here reports whether the page belongs to it.
	Here bool
}

// tabs are all parts, in order.
var tabs = []string{startTab, "timers", "types", "jobs", "dispatches", "forecast", "emergency", "health", auditTab}

// startTab is the part that /console/ shows.
const startTab = "overview"

// auditTab is the part that only admins see.
const auditTab = "audit"

// Link is the first page of the part.
func (t tab) Link() string {
	if t.Name == startTab {
		return links.Root
	}
	return links.Root + t.Name
}

// Key is its name in the catalogues.
func (t tab) Key() string { return t.Name + ".title" }

// Tabs are the parts.
func (f *Frame) Tabs() (all []tab) {
	for _, name := range tabs {
		if name == auditTab && !f.Who.MaySomewhere(auth.Admin) {
			continue
		}
		all = append(all, tab{Name: name, Here: name == cmp.Or(f.tab, startTab)})
	}
	return all
}
