package timer

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/timer/calendar"
)

// Check returns everything that is wrong with the recurrence of a timer booked
// now, with pointers below the recurrence. A rule that never rings, or not
// within MaxAhead, is wrong.
func (r Recurrence) Check(now time.Time) (errs FieldErrors) {
	errs = append(errs, r.checkKind()...)
	errs = append(errs, r.checkExpressions()...)
	errs = append(errs, r.checkSteps()...)
	errs = append(errs, r.checkListed(now)...)
	errs = append(errs, r.checkExclude()...)
	errs = append(errs, r.checkBounds(now)...)
	errs = append(errs, r.checkWords()...)
	if len(errs) == 0 {
		errs = r.checkRings(At(now))
	}
	if len(errs) == 0 {
		errs = r.checkJitter()
	}
	return errs
}

func (r Recurrence) checkKind() (errs FieldErrors) {
	const one = "give exactly one of cron, crons, every, after, at and before"
	given := 0
	for _, kind := range []struct {
		pointer string
		given   bool
	}{{"/cron", r.Cron != nil}, {"/crons", r.Crons != nil}, {"/every", r.Every != nil}, {"/after", r.After != nil}, {"/at", r.At != nil}, {"/before", r.Before != nil}} {
		if !kind.given {
			continue
		}
		if given++; given > 1 {
			errs.Add(kind.pointer, CodeConflict, one)
		}
	}
	if given == 0 {
		errs.Add("/cron", CodeRequired, one)
	}
	if r.Seconds && r.Cron == nil && r.Crons == nil {
		errs.Add("/seconds", CodeConflict, "goes with cron or crons")
	}
	if r.Dialect != "" && r.Cron == nil && r.Crons == nil {
		errs.Add("/dialect", CodeConflict, "goes with cron or crons")
	}
	if r.Offset != nil && r.Every == nil {
		errs.Add("/offset", CodeConflict, "goes with every")
	}
	return errs
}

func (r Recurrence) checkExpressions() (errs FieldErrors) {
	if r.Crons != nil && len(r.Crons) == 0 {
		errs.Add("/crons", CodeRequired, "must have at least one expression")
	}
	if !enforceLength(&errs, listCrons, "/crons", len(r.Crons)) {
		return errs
	}
	if r.Dialect != "" && !slices.Contains(calendar.Dialects(), r.Dialect) {
		errs.Add("/dialect", CodeInvalidRecurrence, fmt.Sprintf("must be one of %v, or be left out", calendar.Dialects()))
		return errs
	}
	texts, pointers := r.expressions()
	for i, text := range texts {
		if err := calendar.CheckCron(text, r.form()); err != nil {
			errs.Add(pointers[i], CodeInvalidRecurrence, err.Error())
		}
	}
	return errs
}

func (r Recurrence) checkSteps() (errs FieldErrors) {
	errs = append(checkStep(fieldEvery, r.Every), checkStep(fieldAfter, r.After)...)
	if r.Offset != nil && r.Every != nil && (*r.Offset < 0 || *r.Offset >= *r.Every || !wholeMillis(*r.Offset)) {
		errs.Add("/offset", CodeOutOfRange, "must be below every, and not negative, in whole milliseconds")
	}
	return errs
}

func checkStep(field Field, step *Duration) (errs FieldErrors) {
	enforceGiven(&errs, field, step)
	if len(errs) == 0 && step != nil && !wholeMillis(*step) {
		errs.Add(field.Pointer, CodeOutOfRange, "must be in whole milliseconds")
	}
	return errs
}

// wholeMillis keeps a grid exact: an Instant has no finer moments.
func wholeMillis(d Duration) bool { return d.D()%time.Millisecond == 0 }

func (r Recurrence) checkExclude() (errs FieldErrors) {
	if err := calendar.CheckTimezone(r.Timezone); err != nil {
		errs.Add("/timezone", CodeInvalidRecurrence, err.Error())
	}
	if !enforceLength(&errs, listExclude, "/exclude", len(r.Exclude)) {
		return errs
	}
	for i, text := range r.Exclude {
		if err := calendar.CheckExclusion(text); err != nil {
			errs.Add("/exclude/"+strconv.Itoa(i), CodeInvalidRecurrence, err.Error())
		}
	}
	return errs
}

func (r Recurrence) checkBounds(now time.Time) (errs FieldErrors) {
	if r.InitialDelay != nil && r.StartAt != 0 {
		errs.Add("/initial_delay", CodeConflict, "give either initial_delay or start_at")
	}
	enforceGiven(&errs, fieldInitialDelay, r.InitialDelay)
	if r.StartAt.Until(now) > MaxAhead {
		errs.Add("/start_at", CodeOutOfRange, tooFarAhead)
	}
	switch {
	case r.EndAt == 0:
	case r.EndAt.Until(now) < 0:
		errs.Add("/end_at", CodeOutOfRange, "must not have passed")
	case r.EndAt < r.StartAt:
		errs.Add("/end_at", CodeOutOfRange, "must not be before start_at")
	}
	enforceGiven(&errs, fieldMaxOccurrences, r.MaxOccurrences)
	enforce(&errs, fieldRecurrenceJitter, r.Jitter)
	return errs
}

func (r Recurrence) checkWords() (errs FieldErrors) {
	switch r.Missed {
	case "", MissedFireOnce:
	case MissedSkip, MissedFireAll:
		if r.After != nil {
			errs.Add("/missed", CodeConflict, "goes with cron or every: a fixed delay misses nothing")
		}
	default:
		errs.Add("/missed", CodeInvalidRecurrence, "must be fire_once, skip or fire_all")
	}
	switch r.OnFailure {
	case "", OnFailureContinue, OnFailurePause:
	default:
		errs.Add("/on_failure", CodeInvalidRecurrence, "must be continue or pause")
	}
	return errs
}

// checkRings refuses a recurrence that has no occurrence, and names the bound
// that takes the last one away.
func (r Recurrence) checkRings(now Instant) (errs FieldErrors) {
	if r.rings(now) {
		return nil
	}
	open := r
	open.Exclude = nil
	endless := r
	endless.EndAt = 0
	switch {
	case len(r.Exclude) > 0 && open.rings(now):
		errs.Add("/exclude", CodeInvalidRecurrence, "leaves no occurrence within ten years and before end_at")
	case r.EndAt != 0 && endless.rings(now):
		errs.Add("/end_at", CodeOutOfRange, "must leave time for an occurrence")
	case r.listed() != "":
		errs.Add(r.listed(), CodeOutOfRange, "must have a time that is still ahead")
	default:
		errs.Add("", CodeInvalidRecurrence, "must ring within ten years")
	}
	return errs
}

func (r Recurrence) rings(now Instant) bool {
	_, ok := r.until(now.Add(MaxAhead)).Next(Cursor{Booked: now}, now)
	return ok
}

func (r Recurrence) checkJitter() (errs FieldErrors) {
	if r.Jitter != 0 && r.Jitter.D() >= r.MinInterval() {
		errs.Add("/jitter", CodeOutOfRange, "must be below the shortest interval, "+Duration(r.MinInterval()).String())
	}
	return errs
}
