package timer

import (
	"errors"
	"strconv"
	"time"
)

var (
	errUnknownZone = errors.New("must be a time zone of the IANA database such as Europe/Berlin")
	errNoSuchDate  = errors.New("must be a date of the calendar such as 2027-12-25")
)

// Check returns everything that is wrong with the recurrence of a timer booked
// now, with pointers below the recurrence. A rule that never rings, or not
// within MaxAhead, is wrong.
func (r Recurrence) Check(now time.Time) (faults Faults) {
	faults = append(faults, r.checkKind()...)
	faults = append(faults, r.checkExpressions()...)
	faults = append(faults, r.checkSteps()...)
	faults = append(faults, r.checkExclude()...)
	faults = append(faults, r.checkBounds(now)...)
	faults = append(faults, r.checkWords()...)
	if len(faults) == 0 {
		faults = r.checkRings(At(now))
	}
	if len(faults) == 0 {
		faults = r.checkJitter()
	}
	return faults
}

func (r Recurrence) checkKind() (faults Faults) {
	const one = "give exactly one of cron, crons, every and after"
	given := 0
	for _, kind := range []struct {
		pointer string
		given   bool
	}{{"/cron", r.Cron != nil}, {"/crons", r.Crons != nil}, {"/every", r.Every != nil}, {"/after", r.After != nil}} {
		if !kind.given {
			continue
		}
		if given++; given > 1 {
			faults.Add(kind.pointer, CodeConflict, one)
		}
	}
	if given == 0 {
		faults.Add("/cron", CodeRequired, one)
	}
	if r.Seconds && r.Cron == nil && r.Crons == nil {
		faults.Add("/seconds", CodeConflict, "goes with cron or crons")
	}
	if r.Offset != nil && r.Every == nil {
		faults.Add("/offset", CodeConflict, "goes with every")
	}
	return faults
}

func (r Recurrence) checkExpressions() (faults Faults) {
	if r.Crons != nil && len(r.Crons) == 0 {
		faults.Add("/crons", CodeRequired, "must have at least one expression")
	}
	if len(r.Crons) > MaxCrons {
		faults.AddMost("/crons", MaxCrons, "expressions")
		return faults
	}
	texts, pointers := r.expressions()
	for i, text := range texts {
		rule, err := parseCron(text, r.Seconds)
		if err != nil {
			faults.Add(pointers[i], CodeInvalidRecurrence, err.Error())
		} else if !rule.everRings() {
			faults.Add(pointers[i], CodeInvalidRecurrence, "never rings: no calendar has such a day")
		}
	}
	return faults
}

// everRings reports whether any date matches. The calendar repeats itself
// after 400 years, but no match is rarer than searchYears.
func (r cronRule) everRings() bool {
	walk := cronWalk{rule: r, zone: time.UTC, exclude: &exclusions{}}
	_, ok := walk.next(0)
	return ok
}

func (r Recurrence) checkSteps() (faults Faults) {
	faults = append(checkStep(fieldEvery, r.Every), checkStep(fieldAfter, r.After)...)
	if r.Offset != nil && r.Every != nil && (*r.Offset < 0 || *r.Offset >= *r.Every || !wholeMillis(*r.Offset)) {
		faults.Add("/offset", CodeOutOfRange, "must be below every, and not negative, in whole milliseconds")
	}
	return faults
}

func checkStep(field Field, step *Duration) (faults Faults) {
	holdGiven(&faults, field, step)
	if len(faults) == 0 && step != nil && !wholeMillis(*step) {
		faults.Add(field.Pointer, CodeOutOfRange, "must be in whole milliseconds")
	}
	return faults
}

// wholeMillis keeps a grid exact: an Instant has no finer moments.
func wholeMillis(d Duration) bool { return d.D()%time.Millisecond == 0 }

func (r Recurrence) checkExclude() (faults Faults) {
	if _, err := r.zone(); err != nil {
		faults.Add("/timezone", CodeInvalidRecurrence, err.Error())
	}
	if len(r.Exclude) > MaxExcludes {
		faults.AddMost("/exclude", MaxExcludes, "entries")
		return faults
	}
	exclude := exclusions{days: map[civilDay]bool{}}
	for i, text := range r.Exclude {
		if err := exclude.add(text); err != nil {
			faults.Add("/exclude/"+strconv.Itoa(i), CodeInvalidRecurrence, err.Error())
		}
	}
	return faults
}

func (r Recurrence) checkBounds(now time.Time) (faults Faults) {
	if r.InitialDelay != nil && r.StartAt != 0 {
		faults.Add("/initial_delay", CodeConflict, "give either initial_delay or start_at")
	}
	holdGiven(&faults, fieldInitialDelay, r.InitialDelay)
	if r.StartAt.Until(now) > MaxAhead {
		faults.Add("/start_at", CodeOutOfRange, tooFarAhead)
	}
	switch {
	case r.EndAt == 0:
	case r.EndAt.Until(now) < 0:
		faults.Add("/end_at", CodeOutOfRange, "must not have passed")
	case r.EndAt < r.StartAt:
		faults.Add("/end_at", CodeOutOfRange, "must not be before start_at")
	}
	holdGiven(&faults, fieldMaxOccurrences, r.MaxOccurrences)
	hold(&faults, fieldRecurrenceJitter, r.Jitter)
	return faults
}

func (r Recurrence) checkWords() (faults Faults) {
	switch r.Missed {
	case "", MissedFireOnce:
	case MissedSkip, MissedFireAll:
		if r.After != nil {
			faults.Add("/missed", CodeConflict, "goes with cron or every: a fixed delay misses nothing")
		}
	default:
		faults.Add("/missed", CodeInvalidRecurrence, "must be fire_once, skip or fire_all")
	}
	switch r.OnFailure {
	case "", OnFailureContinue, OnFailurePause:
	default:
		faults.Add("/on_failure", CodeInvalidRecurrence, "must be continue or pause")
	}
	return faults
}

// checkRings refuses a recurrence that has no occurrence, and names the bound
// that takes the last one away.
func (r Recurrence) checkRings(now Instant) (faults Faults) {
	if r.rings(now) {
		return nil
	}
	open := r
	open.Exclude = nil
	endless := r
	endless.EndAt = 0
	switch {
	case len(r.Exclude) > 0 && open.rings(now):
		faults.Add("/exclude", CodeInvalidRecurrence, "leaves no occurrence within ten years and before end_at")
	case r.EndAt != 0 && endless.rings(now):
		faults.Add("/end_at", CodeOutOfRange, "must leave time for an occurrence")
	default:
		faults.Add("", CodeInvalidRecurrence, "must ring within ten years")
	}
	return faults
}

func (r Recurrence) rings(now Instant) bool {
	first, ok := r.Next(Cursor{Booked: now}, now)
	return ok && first.Nominal <= now.Add(MaxAhead)
}

func (r Recurrence) checkJitter() (faults Faults) {
	if r.Jitter != 0 && r.Jitter.D() >= r.MinInterval() {
		faults.Add("/jitter", CodeOutOfRange, "must be below the shortest interval, "+Duration(r.MinInterval()).String())
	}
	return faults
}
