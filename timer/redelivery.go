package timer

// FailedFilter selects runs of timers that failed for good.
type FailedFilter struct {
	// BusinessType is empty for all of them.
	BusinessType string `json:"business_type,omitzero"`
	// EndedFrom and EndedTo bound when a timer failed, both included; zero for
	// open.
	EndedFrom Instant `json:"ended_from,omitzero"`
	EndedTo   Instant `json:"ended_to,omitzero"`
}

// Redelivery is an order to try failed timers again, at most PerSecond of them
// in a second.
type Redelivery struct {
	Filter    FailedFilter `json:"filter"`
	PerSecond float64      `json:"per_second"`
}

// Check returns what is wrong with the order, field by field.
func (r Redelivery) Check() (errs FieldErrors) {
	if r.Filter.BusinessType != "" {
		errs.Under("/filter", CheckBusinessType(r.Filter.BusinessType))
	}
	if r.Filter.EndedTo != 0 && r.Filter.EndedTo < r.Filter.EndedFrom {
		errs.Add("/filter/ended_to", CodeConflict, "must not be before ended_from")
	}
	if !(r.PerSecond >= MinRedeliveryRate && r.PerSecond <= MaxRedeliveryRate) { // refuses NaN as well
		errs.AddRange("/per_second", MinRedeliveryRate, MaxRedeliveryRate)
	}
	return errs
}

// Redelivered counts what became of the timers of a redelivery.
type Redelivered struct {
	// Found counts the runs that the filter selects; nil while nobody has
	// counted them. An id that failed several times is found once for each.
	Found *int `json:"found"`
	// Redelivered counts the timers that were started again.
	Redelivered int `json:"redelivered"`
	// Skipped counts those that are not failed any more, or failed once more.
	Skipped int `json:"skipped"`
	// Failed counts those that could not be started.
	Failed int `json:"failed"`
}

// RedeliveryProgress is how far a redelivery has come: from here another
// worker goes on.
type RedeliveryProgress struct {
	Redelivered
	// Page is the token of the page that is worked on, and After the run on it
	// that was dealt with last. An index would be wrong as soon as Temporal
	// forgets a run or hears of one late.
	Page  []byte `json:"page,omitempty"`
	After string `json:"after,omitzero"`
	// Tries counts what was tried in vain for the run behind After.
	Tries int `json:"tries,omitzero"`
}

// RedeliveryStatus is where a redelivery stands.
type RedeliveryStatus string

// The life of a redelivery: running, then one of the three ends.
const (
	// RedeliveryRunning: timers are still to be started, or nobody has begun.
	RedeliveryRunning RedeliveryStatus = "running"
	// RedeliveryDone: every timer was dealt with.
	RedeliveryDone RedeliveryStatus = "done"
	// RedeliveryStopped: stopped by anybody.
	RedeliveryStopped RedeliveryStatus = "stopped"
	// RedeliveryFailed: it could not go on.
	RedeliveryFailed RedeliveryStatus = "failed"
)

// RedeliveryStatuses lists every status, in the order of a redelivery's life.
func RedeliveryStatuses() []RedeliveryStatus {
	return []RedeliveryStatus{RedeliveryRunning, RedeliveryDone, RedeliveryStopped, RedeliveryFailed}
}

// RedeliveryView is what a reader is shown of a redelivery.
type RedeliveryView struct {
	ID     string           `json:"id"`
	Status RedeliveryStatus `json:"status"`
	Redelivered
	PerSecond float64 `json:"per_second"`
	FailedFilter
	StartedAt Instant `json:"started_at"`
	// FinishedAt is when the redelivery ended.
	FinishedAt Instant `json:"finished_at,omitzero"`
	Links      Links   `json:"links"`
}
