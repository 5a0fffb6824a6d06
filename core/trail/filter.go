package trail

import (
	"cmp"

	"github.com/wakecall/wakecall/core/wire"
)

// Filter selects records. The zero value selects all.
type Filter struct {
	// Who is the name or the id of the caller.
	Who string
	// BusinessType is the type of what was called upon.
	BusinessType string
	// Operation is [Record.Operation].
	Operation string
	Outcome   Outcome
	// From and To bound the time of the call. To is not part of it.
	From, To wire.Instant
}

// Matches reports whether the filter selects a record.
func (f Filter) Matches(r *Record) bool {
	return (f.Who == "" || r.Who != nil && (r.Who.Name == f.Who || r.Who.ID == f.Who)) &&
		(f.BusinessType == "" || r.Target.Names(f.BusinessType)) &&
		(f.Operation == "" || r.Operation() == f.Operation) &&
		(f.Outcome == "" || r.Outcome == f.Outcome) &&
		r.At >= f.From && (f.To == 0 || r.At < f.To)
}

// Operation is the method and the route of the call, such as DELETE /v1/timers/:type/:id.
func (r *Record) Operation() string { return r.Method + " " + r.Route }

// Place is where a record stands in a list, the newest first.
type Place struct {
	At wire.Instant
	ID string
}

// Place returns the place of the record.
func (r *Record) Place() Place { return Place{r.At, r.ID} }

// Compare orders places as a list has them.
func (p Place) Compare(to Place) int {
	return cmp.Or(cmp.Compare(to.At, p.At), cmp.Compare(to.ID, p.ID))
}

// Page is a part of the records that one gateway knows, the newest first.
type Page struct {
	// Gateway is the process that answers. Others have records of their own.
	Gateway string `json:"gateway"`
	// Since is the time from which on the gateway knows every record. TimersSince is the same for
	// the calls of programs about single timers, which are many.
	Since         wire.Instant `json:"since"`
	TimersSince   wire.Instant `json:"timers_since"`
	Records       []Record     `json:"records"`
	NextPageToken string       `json:"next_page_token"`
}
