package recurrence

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/wire"
)

// Check returns everything wrong with the recurrence of a timer booked now, with pointers below
// the recurrence. A rule must ring within MaxAhead.
func (r Rule) Check(now time.Time) (errs wire.FieldErrors) {
	errs = append(errs, checkKind(r)...)
	errs = append(errs, checkExpressions(r)...)
	errs = append(errs, checkSteps(r)...)
	errs = append(errs, checkListed(r, now)...)
	errs = append(errs, checkExclude(r)...)
	errs = append(errs, checkBounds(r, now)...)
	errs = append(errs, checkWords(r)...)
	if len(errs) == 0 {
		errs = checkRings(r, wire.At(now))
	}
	if len(errs) == 0 {
		errs = checkJitter(r)
	}
	return errs
}

func checkKind(r Rule) (errs wire.FieldErrors) {
	const one = "give exactly one of cron, crons, every, after, at and before"
	given := 0
	for _, kind := range []struct {
		pointer string
		given   bool
	}{{"/cron", r.Cron != nil}, {"/crons", r.Crons != nil}, {"/every", r.Every != nil}, {"/after", r.After != nil},
		{"/at", r.At != nil}, {"/before", r.Before != nil}} {
		if !kind.given {
			continue
		}
		if given++; given > 1 {
			errs.Add(kind.pointer, wire.CodeConflict, one)
		}
	}
	if given == 0 {
		errs.AddBeside("/cron", wire.CodeRequired, one, "/crons", "/every", "/after", "/at", "/before")
	}
	if r.Seconds && r.Cron == nil && r.Crons == nil {
		errs.AddBeside("/seconds", wire.CodeConflict, "is allowed only with cron or crons", "/cron", "/crons")
	}
	if r.Dialect != "" && r.Cron == nil && r.Crons == nil {
		errs.AddBeside("/dialect", wire.CodeConflict, "is allowed only with cron or crons", "/cron", "/crons")
	}
	if r.Offset != nil && r.Every == nil {
		errs.AddBeside("/offset", wire.CodeConflict, "is allowed only with every", "/every")
	}
	return errs
}

func checkExpressions(r Rule) (errs wire.FieldErrors) {
	if r.Crons != nil && len(r.Crons) == 0 {
		errs.Add("/crons", wire.CodeRequired, "must have at least one expression")
	}
	if !wire.EnforceLength(&errs, ListCrons, "/crons", len(r.Crons)) {
		return errs
	}
	if r.Dialect != "" && !slices.Contains(calendar.Dialects(), r.Dialect) {
		errs.Add("/dialect", wire.CodeInvalidRecurrence, fmt.Sprintf("must be one of %v, or be left out", calendar.Dialects()))
		return errs
	}
	texts, pointers := r.expressions()
	for i, text := range texts {
		if err := calendar.CheckCron(text, r.form()); err != nil {
			errs.AddBeside(pointers[i], wire.CodeInvalidRecurrence, err.Error(), "/seconds", "/dialect")
		}
	}
	return errs
}

func checkSteps(r Rule) (errs wire.FieldErrors) {
	errs = append(checkStep(fieldEvery, r.Every), checkStep(fieldAfter, r.After)...)
	if r.Offset != nil && r.Every != nil && (*r.Offset < 0 || *r.Offset >= *r.Every || !wholeMillis(*r.Offset)) {
		errs.AddBeside("/offset", wire.CodeOutOfRange, "must be below every, and not negative, in whole milliseconds", "/every")
	}
	return errs
}

func checkStep(field wire.Field, step *wire.Duration) (errs wire.FieldErrors) {
	wire.EnforceGiven(&errs, field, step)
	if len(errs) == 0 && step != nil && !wholeMillis(*step) {
		errs.Add(field.Pointer, wire.CodeOutOfRange, "must be in whole milliseconds")
	}
	return errs
}

// wholeMillis keeps a grid exact: an Instant has no finer moments.
func wholeMillis(d wire.Duration) bool { return d.D()%time.Millisecond == 0 }

func checkExclude(r Rule) (errs wire.FieldErrors) {
	if err := calendar.CheckTimezone(r.Timezone); err != nil {
		errs.Add("/timezone", wire.CodeInvalidRecurrence, err.Error())
	}
	if !wire.EnforceLength(&errs, ListExclude, "/exclude", len(r.Exclude)) {
		return errs
	}
	for i, text := range r.Exclude {
		if err := calendar.CheckExclusion(text); err != nil {
			errs.Add("/exclude/"+strconv.Itoa(i), wire.CodeInvalidRecurrence, err.Error())
		}
	}
	return errs
}

func checkBounds(r Rule, now time.Time) (errs wire.FieldErrors) {
	if r.InitialDelay != nil && r.StartAt != 0 {
		errs.Add("/initial_delay", wire.CodeConflict, "give either initial_delay or start_at")
	}
	wire.EnforceGiven(&errs, fieldInitialDelay, r.InitialDelay)
	if r.StartAt.Until(now) > wire.MaxAhead {
		errs.Add("/start_at", wire.CodeOutOfRange, wire.TooFarAhead)
	}
	switch {
	case r.EndAt == 0:
	case r.EndAt.Until(now) < 0:
		errs.Add("/end_at", wire.CodeOutOfRange, "must not have passed")
	case r.EndAt < r.StartAt:
		errs.Add("/end_at", wire.CodeOutOfRange, "must not be before start_at")
	}
	wire.EnforceGiven(&errs, fieldMaxOccurrences, r.MaxOccurrences)
	wire.Enforce(&errs, fieldRecurrenceJitter, r.Jitter)
	return errs
}

func checkWords(r Rule) (errs wire.FieldErrors) {
	switch r.Missed {
	case "", MissedFireOnce:
	case MissedSkip, MissedFireAll:
		if r.After != nil {
			errs.Add("/missed", wire.CodeConflict, "is allowed only with cron or every: a fixed delay misses nothing")
		}
	default:
		errs.Add("/missed", wire.CodeInvalidRecurrence, "must be fire_once, skip or fire_all")
	}
	switch r.OnFailure {
	case "", OnFailureContinue, OnFailurePause:
	default:
		errs.Add("/on_failure", wire.CodeInvalidRecurrence, "must be continue or pause")
	}
	return errs
}

// checkRings refuses a recurrence without an occurrence, and names the bound that excludes the
// last one. It judges the whole rule.
func checkRings(r Rule, now wire.Instant) (errs wire.FieldErrors) {
	if r.rings(now) {
		return nil
	}
	open := r
	open.Exclude = nil
	endless := r
	endless.EndAt = 0
	switch {
	case len(r.Exclude) > 0 && open.rings(now):
		errs.AddBeside("/exclude", wire.CodeInvalidRecurrence, "leaves no occurrence within ten years and before end_at", "")
	case r.EndAt != 0 && endless.rings(now):
		errs.AddBeside("/end_at", wire.CodeOutOfRange, "must leave time for an occurrence", "")
	case r.listed() != "":
		errs.AddBeside(r.listed(), wire.CodeOutOfRange, "must have a time that is still ahead", "")
	default:
		errs.AddBeside("", wire.CodeInvalidRecurrence, "must ring within ten years", "")
	}
	return errs
}

func (r Rule) rings(now wire.Instant) bool {
	_, ok := r.Until(now.Add(wire.MaxAhead)).Next(Cursor{Booked: now}, now)
	return ok
}

func checkJitter(r Rule) (errs wire.FieldErrors) {
	if r.Jitter != 0 && r.Jitter.D() >= r.MinInterval() {
		errs.AddBeside("/jitter", wire.CodeOutOfRange, "must be below the shortest interval, "+wire.Duration(r.MinInterval()).String(), "")
	}
	return errs
}
