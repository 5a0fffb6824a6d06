package recurrence

import (
	"strconv"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// due returns the time that Before counts back from; zero if it is invalid.
func (r Rule) due() wire.Instant {
	if r.DueLocal == nil {
		return r.DueAt
	}
	due, err := r.DueLocal.In(r.Timezone)
	if err != nil {
		return 0
	}
	return due
}

// moments returns the nominal times of a rule that lists them.
func (r Rule) moments() (times []time.Time) {
	for _, at := range r.At {
		times = append(times, at.Time())
	}
	for _, step := range r.Before {
		times = append(times, r.due().Add(-step.D()).Time())
	}
	return times
}

// listed returns the pointer to the list of times; "" for a rule without one.
func (r Rule) listed() string {
	switch {
	case r.At != nil:
		return "/at"
	case r.Before != nil:
		return "/before"
	default:
		return ""
	}
}

func checkListed(r Rule, now time.Time) (errs wire.FieldErrors) {
	if pointer := r.listed(); pointer != "" && len(r.At)+len(r.Before) == 0 {
		errs.Add(pointer, wire.CodeRequired, "must have at least one time")
	}
	if !wire.EnforceLength(&errs, ListAt, "/at", len(r.At)) || !wire.EnforceLength(&errs, ListBefore, "/before", len(r.Before)) {
		return errs
	}
	for i, at := range r.At {
		if at.Until(now) > wire.MaxAhead {
			errs.Add("/at/"+strconv.Itoa(i), wire.CodeOutOfRange, wire.TooFarAhead)
		}
	}
	for i, step := range r.Before {
		field := fieldBefore
		field.Pointer += "/" + strconv.Itoa(i)
		wire.EnforceGiven(&errs, field, &step)
		if !wholeMillis(step) {
			errs.Add(field.Pointer, wire.CodeOutOfRange, "must be in whole milliseconds")
		}
	}
	return append(errs, checkStepsDue(r, now)...)
}

func checkStepsDue(r Rule, now time.Time) (errs wire.FieldErrors) {
	given := "/due_at"
	if r.DueLocal != nil {
		given = "/due_local"
	}
	switch {
	case r.Before == nil && (r.DueAt != 0 || r.DueLocal != nil):
		errs.AddBeside(given, wire.CodeConflict, "is allowed only with before", "/before")
	case r.Before == nil:
	case r.DueAt == 0 && r.DueLocal == nil:
		errs.AddBeside("/due_at", wire.CodeRequired, "give due_at or due_local: before counts back from it", "/due_local")
	case r.DueAt != 0 && r.DueLocal != nil:
		errs.Add("/due_local", wire.CodeConflict, "give either due_at or due_local")
	case r.due().Until(now) > wire.MaxAhead:
		errs.Add(given, wire.CodeOutOfRange, wire.TooFarAhead)
	}
	return errs
}
