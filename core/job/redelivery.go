package job

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// FailedFilter selects runs of timers that failed for good.
type FailedFilter struct {
	// BusinessType is empty for all of them.
	BusinessType string `json:"business_type,omitzero"`
	// EndedFrom and EndedTo bound when a timer failed, both included; zero for
	// open.
	EndedFrom wire.Instant `json:"ended_from,omitzero"`
	EndedTo   wire.Instant `json:"ended_to,omitzero"`
}

// Redelivery is an order to try failed timers again, at most PerSecond of them
// in a second.
type Redelivery struct {
	Filter    FailedFilter `json:"filter"`
	PerSecond float64      `json:"per_second"`
	// By is who gave the order; nil where nobody knows. The job works on its behalf.
	By *wire.Actor `json:"by,omitempty"`
}

// Check returns what is wrong with the order, field by field. Nothing in it depends on the
// present: an order of any kind is checked as of a moment.
func (r Redelivery) Check(time.Time) (errs wire.FieldErrors) {
	if r.Filter.BusinessType != "" {
		errs.Under("/filter", wire.CheckBusinessType(r.Filter.BusinessType))
	}
	if r.Filter.EndedTo != 0 && r.Filter.EndedTo < r.Filter.EndedFrom {
		errs.Add("/filter/ended_to", wire.CodeConflict, "must not be before ended_from")
	}
	if !(r.PerSecond >= MinRedeliveryRate && r.PerSecond <= MaxRedeliveryRate) { // refuses NaN as well
		errs.AddRange("/per_second", MinRedeliveryRate, MaxRedeliveryRate)
	}
	return errs
}

// Redelivered is [Tally] under the names of a redelivery.
type Redelivered struct {
	// Found counts the runs that the filter selects; nil while nobody has
	// counted them. An id that failed several times is found once for each.
	Found *int `json:"found"`
	// Done counts the timers that were started again.
	Done int `json:"redelivered"`
	// Skipped counts those that are not failed any more, or failed once more.
	Skipped int `json:"skipped"`
	// Failed counts those that could not be started.
	Failed int `json:"failed"`
}

// Counts returns the counts, to be counted up.
func (r *Redelivered) Counts() *Tally { return (*Tally)(r) }

// RedeliveryProgress is how far a redelivery has come.
type RedeliveryProgress struct {
	Redelivered
	Position
}
