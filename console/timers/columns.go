package timers

import (
	"net/url"
	"slices"

	"github.com/wakecall/wakecall/console/calls"
)

// columns are the columns that a list of timers may show beside the id, in order.
var columns = []string{"status", "due", "attempts", "last", "labels", "priority", "booked", "webhook"}

// usualColumns are the columns of a list whose address names none.
var usualColumns = []string{"status", "due", "attempts", "last"}

// columnsOf are the columns that an address names. What it names and is none is left out.
func columnsOf(query url.Values) []string {
	if !query.Has("col") {
		return usualColumns
	}
	return calls.Where(columns, func(name string) bool { return slices.Contains(query["col"], name) })
}

// Chosen are the columns that the next list has too; none where they are the usual ones.
func (p *timersPage) Chosen() []string {
	if slices.Equal(p.Columns, usualColumns) {
		return nil
	}
	return p.Columns
}

// column is a column to choose.
type column struct {
	Name  string
	Shown bool
}

// Key is its name in the catalogues.
func (c column) Key() string { return "column." + c.Name }

// Choices are all columns.
func (p *timersPage) Choices() (all []column) {
	for _, name := range columns {
		all = append(all, column{name, slices.Contains(p.Columns, name)})
	}
	return all
}
