package timer

import (
	"strconv"
	"time"
)

// due is what the steps of Before count back from; zero where it cannot be told.
func (r Recurrence) due() Instant {
	if r.DueLocal == nil {
		return r.DueAt
	}
	due, err := r.DueLocal.In(r.Timezone)
	if err != nil {
		return 0
	}
	return due
}

// moments are the nominal times of a rule that lists them.
func (r Recurrence) moments() (times []time.Time) {
	for _, at := range r.At {
		times = append(times, at.Time())
	}
	for _, step := range r.Before {
		times = append(times, r.due().Add(-step.D()).Time())
	}
	return times
}

// listed leads to the list of times of a rule that has one; "" for the others.
func (r Recurrence) listed() string {
	switch {
	case r.At != nil:
		return "/at"
	case r.Before != nil:
		return "/before"
	default:
		return ""
	}
}

func (r Recurrence) checkListed(now time.Time) (errs FieldErrors) {
	if pointer := r.listed(); pointer != "" && len(r.At)+len(r.Before) == 0 {
		errs.Add(pointer, CodeRequired, "must have at least one time")
	}
	if !enforceLength(&errs, listAt, "/at", len(r.At)) || !enforceLength(&errs, listBefore, "/before", len(r.Before)) {
		return errs
	}
	for i, at := range r.At {
		if at.Until(now) > MaxAhead {
			errs.Add("/at/"+strconv.Itoa(i), CodeOutOfRange, tooFarAhead)
		}
	}
	for i, step := range r.Before {
		field := fieldBefore
		field.Pointer += "/" + strconv.Itoa(i)
		enforceGiven(&errs, field, &step)
		if !wholeMillis(step) {
			errs.Add(field.Pointer, CodeOutOfRange, "must be in whole milliseconds")
		}
	}
	return append(errs, r.checkStepsDue(now)...)
}

func (r Recurrence) checkStepsDue(now time.Time) (errs FieldErrors) {
	given := "/due_at"
	if r.DueLocal != nil {
		given = "/due_local"
	}
	switch {
	case r.Before == nil && (r.DueAt != 0 || r.DueLocal != nil):
		errs.Add(given, CodeConflict, "goes with before")
	case r.Before == nil:
	case r.DueAt == 0 && r.DueLocal == nil:
		errs.Add("/due_at", CodeRequired, "give due_at or due_local: before counts back from it")
	case r.DueAt != 0 && r.DueLocal != nil:
		errs.Add("/due_local", CodeConflict, "give either due_at or due_local")
	case r.due().Until(now) > MaxAhead:
		errs.Add(given, CodeOutOfRange, tooFarAhead)
	}
	return errs
}
