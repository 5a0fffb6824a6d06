package timer

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Filter selects timers. Its zero value selects all of them.
type Filter struct {
	BusinessType string `json:"business_type,omitzero"`
	// BusinessID finds the timers with this id, of any type.
	BusinessID string `json:"business_id,omitzero"`
	Status     Status `json:"status,omitzero"`
	// Labels finds the timers with all of these labels.
	Labels Labels `json:"labels,omitempty"`
	// Recurring finds recurring timers only.
	Recurring bool `json:"recurring,omitzero"`
	// DueFrom and DueTo bound the due time, both included; zero for no bound.
	DueFrom wire.Instant `json:"due_from,omitzero"`
	DueTo   wire.Instant `json:"due_to,omitzero"`
	// EndedFrom and EndedTo bound the end of the timer, both included; zero for no bound. Either
	// selects finished timers only.
	EndedFrom wire.Instant `json:"ended_from,omitzero"`
	EndedTo   wire.Instant `json:"ended_to,omitzero"`
}

// Admits reports whether a timer lies within the bounds and has the labels exactly. An index
// stores times less exactly, and SQLite ignores case.
func (f Filter) Admits(view View) bool {
	return view.Labels.Have(f.Labels) && (f.DueFrom == 0 || view.DueAt >= f.DueFrom) && (f.DueTo == 0 || view.DueAt <= f.DueTo)
}

// Same reports whether two filters select the same timers.
func (f Filter) Same(other Filter) bool {
	same := maps.Equal(f.Labels, other.Labels)
	f.Labels, other.Labels = nil, nil
	return same && reflect.DeepEqual(f, other)
}

// Check returns what is wrong with the filter, field by field.
func (f Filter) Check() (errs wire.FieldErrors) {
	if f.BusinessType != "" {
		errs = append(errs, wire.CheckBusinessType(f.BusinessType)...)
	}
	if f.BusinessID != "" && !wire.IsBusinessID(f.BusinessID) {
		errs = append(errs, wire.WrongBusinessID())
	}
	if f.Status != "" && !slices.Contains(Statuses(), f.Status) {
		errs.Add("/status", wire.CodeInvalidParameter, fmt.Sprintf("must be one of %v", Statuses()))
	}
	errs.Under("/labels", f.Labels.Check())
	errs.Under("/", f.CheckSpans())
	return errs
}

// CheckSpans returns what is wrong with the spans of time, each by the name of its field alone.
func (f Filter) CheckSpans() wire.FieldErrors {
	due := wire.Span{From: wire.Bound{Field: "due_from", At: f.DueFrom}, To: wire.Bound{Field: "due_to", At: f.DueTo}, Closed: true}
	ended := wire.Span{From: wire.Bound{Field: "ended_from", At: f.EndedFrom}, To: wire.Bound{Field: "ended_to", At: f.EndedTo}, Closed: true}
	return append(due.Check(), ended.Check()...)
}

// Sort is the order of a list of timers. "" puts the open ones first, and then the latest ended
// ones.
type Sort string

// The orders of a list by due time.
const (
	DueFirst Sort = "due"
	DueLast  Sort = "-due"
)
