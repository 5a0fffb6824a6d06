package console

import (
	"cmp"
	"net/url"

	"github.com/wakecall/wakecall/internal/auth"
)

// tab is one part of the console, as the top of each page names it.
type tab struct {
	Name string
	// Here reports whether the page belongs to it.
	Here bool
}

// tabs are all parts, in order.
var tabs = []string{startTab, "timers", "types", "jobs"}

// startTab is the part that /console/ shows.
const startTab = "overview"

// adminTabs are of no use for those who do not administer all business types.
var adminTabs = map[string]bool{"audit": true}

// Link is the first page of the part.
func (t tab) Link() string {
	if t.Name == startTab {
		return Root
	}
	return Root + t.Name
}

// Key is its name in the catalogues.
func (t tab) Key() string { return t.Name + ".title" }

// Tabs are the parts that are of use for who looks.
func (f frame) Tabs() (all []tab) {
	for _, name := range tabs {
		if !adminTabs[name] || f.Who.May(auth.Admin, "") {
			all = append(all, tab{Name: name, Here: name == cmp.Or(f.tab, startTab)})
		}
	}
	return all
}

// typePath is the page of a business type.
func typePath(businessType string) string { return Root + "types/" + url.PathEscape(businessType) }
