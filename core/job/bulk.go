package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Operation is what is done with each timer that a bulk job finds.
type Operation string

// The closed list of operations.
const (
	// Cancel cancels open timers.
	Cancel Operation = "cancel"
	// Move shifts the due time of open timers.
	Move Operation = "move"
	// Edit changes the content of open timers.
	Edit Operation = "edit"
	// Fire rings open timers now.
	Fire Operation = "fire"
	// Redeliver tries failed timers again.
	Redeliver Operation = "redeliver"
)

// Operations lists every operation.
func Operations() []Operation {
	return []Operation{Cancel, Move, Edit, Fire, Redeliver}
}

// Bulk is an order to do the same with all timers that a filter finds, at most PerSecond
// of them in a second.
type Bulk struct {
	// ID is the client's own, or one that was made up.
	ID        string       `json:"id"`
	Operation Operation    `json:"operation"`
	Filter    timer.Filter `json:"filter"`
	// Shift is by how much a move moves each due time; it may be negative.
	Shift wire.Duration `json:"shift,omitzero"`
	// Edit is what an edit changes. Stored, its header values are sealed.
	Edit      *timer.Terms `json:"edit,omitempty"`
	PerSecond float64      `json:"per_second"`
	// BookedBefore, of an order that Wakecall gives itself, has every timer cancelled that was
	// booked by then, whatever has become of it since it was found. The job is repeated until it
	// finds none. Zero for an order of a client.
	BookedBefore wire.Instant `json:"booked_before,omitzero"`
	// DryRun reports whether the timers are counted, and left alone.
	DryRun bool `json:"dry_run,omitzero"`
	// Fingerprint is a digest of the order as the client gave it.
	Fingerprint string `json:"fingerprint,omitzero"`
	// By is who gave the order; nil where nobody knows. The job works on its behalf.
	By *wire.Actor `json:"by,omitempty"`
}

var bulkID = regexp.MustCompile(fmt.Sprintf("^[A-Za-z0-9._:~@=+-]{1,%d}$", MaxID))

// CheckID returns what is wrong with the id of a bulk job.
func CheckID(id string) (errs wire.FieldErrors) {
	if !bulkID.MatchString(id) || wire.IsDots(id) {
		errs.Add("/id", wire.CodeInvalidParameter, fmt.Sprintf("must be 1 to %d characters of A-Z a-z 0-9 . _ : ~ @ = + -, and neither . nor ..", MaxID))
	}
	return errs
}

// Check returns what is wrong with the order, field by field.
func (b Bulk) Check(now time.Time) (errs wire.FieldErrors) {
	errs = append(errs, CheckID(b.ID)...)
	if !slices.Contains(Operations(), b.Operation) {
		errs.Add("/operation", wire.CodeInvalidParameter, fmt.Sprintf("must be one of %v", Operations()))
		return errs
	}
	errs.Under("/filter", b.checkFilter())
	errs = append(errs, b.checkShift()...)
	errs = append(errs, b.checkEdit(now)...)
	if !(b.PerSecond >= MinRate && b.PerSecond <= MaxRate) { // refuses NaN as well
		errs.AddRange("/per_second", MinRate, MaxRate)
	}
	return errs
}

// checkFilter refuses a filter that finds what the operation is not for.
func (b Bulk) checkFilter() (errs wire.FieldErrors) {
	errs = b.Filter.Check()
	switch status := b.Filter.Status; {
	case status == "" || !slices.Contains(timer.Statuses(), status):
	case b.Operation == Redeliver && status != timer.Failed:
		errs.Add("/status", wire.CodeConflict, "must be failed: nothing else can be redelivered")
	case b.Operation != Redeliver && status.Finished():
		errs.Add("/status", wire.CodeConflict, "must be one of an open timer: nothing else can be changed")
	}
	if b.Operation != Redeliver && b.Filter.EndedFrom != 0 {
		errs.Add("/ended_from", wire.CodeConflict, "goes with redeliver: no open timer has ended")
	}
	if b.Operation != Redeliver && b.Filter.EndedTo != 0 {
		errs.Add("/ended_to", wire.CodeConflict, "goes with redeliver: no open timer has ended")
	}
	return errs
}

func (b Bulk) checkShift() (errs wire.FieldErrors) {
	const pointer = "/shift"
	switch {
	case b.Operation != Move && b.Shift != 0:
		errs.Add(pointer, wire.CodeConflict, "goes with move")
	case b.Operation == Move && b.Shift == 0:
		errs.Add(pointer, wire.CodeRequired, "is required, such as 2h or -30m")
	case b.Shift.D() > wire.MaxAhead || b.Shift.D() < -wire.MaxAhead:
		errs.AddRange(pointer, wire.Duration(-wire.MaxAhead), wire.Duration(wire.MaxAhead))
	}
	return errs
}

func (b Bulk) checkEdit(now time.Time) (errs wire.FieldErrors) {
	const pointer = "/edit"
	switch {
	case b.Operation != Edit && b.Edit != nil:
		errs.Add(pointer, wire.CodeConflict, "goes with edit")
	case b.Operation != Edit:
	case b.Edit == nil:
		errs.Add(pointer, wire.CodeRequired, "is required")
	case b.Edit.IsZero():
		errs.Add(pointer, wire.CodeRequired, "name at least one field to change")
	default:
		errs.Under(pointer, append(b.Edit.RefuseTimes(), b.Edit.CheckChange(now)...))
	}
	return errs
}

// Signed is the order with its fingerprint.
func (b Bulk) Signed() Bulk {
	b.Fingerprint, b.By = "", nil
	// An order holds no channel, function or cycle: it always marshals, unless its rate
	// is none, which the check refuses.
	text, _ := json.Marshal(b)
	sum := sha256.Sum256(text)
	b.Fingerprint = hex.EncodeToString(sum[:16])
	return b
}

// Until is the order as it is given at an instant: what fails after that is not part of a
// redelivery.
func (b Bulk) Until(now wire.Instant) Bulk {
	if b.Operation == Redeliver && (b.Filter.EndedTo == 0 || b.Filter.EndedTo > now) {
		b.Filter.EndedTo = now
	}
	return b
}

// mostSweeps is how often a job is repeated that is to miss nothing. The second one finds what
// the first one passed by; more are for timers that do not let go.
const mostSweeps = 50

// Again is the order that looks once more for what a job has missed: lists lag behind, and a
// timer that begins another run while it is looked for may be passed by.
// ok is false where that was done often enough.
func (b Bulk) Again() (_ Bulk, ok bool) {
	id, number, _ := strings.Cut(b.ID, "~")
	times, _ := strconv.Atoi(number)
	b.ID = id + "~" + strconv.Itoa(times+1)
	return b, times < mostSweeps
}

// Admits reports whether the order is about a timer, as far as lists cannot tell.
func (b Bulk) Admits(view timer.View) bool {
	return b.Filter.Admits(view) && (b.BookedBefore == 0 || view.CreatedAt <= b.BookedBefore)
}

// Mark is what a timer shows in its fingerprint that this job has changed.
func (b Bulk) Mark() string { return "bulk:" + b.ID }

// Terms are what the operation changes now of a timer that was found due at an instant. One
// that comes to lie in the past rings at once, however long ago that is.
func (b Bulk) Terms(found wire.Instant, now time.Time) (terms timer.Terms) {
	switch {
	case b.Operation == Move:
		due := max(found.Add(b.Shift.D()), wire.At(now.Add(time.Second-timer.MaxPast))) // the check is made a moment later
		terms.DueAt = &due
	case b.Edit != nil:
		terms = *b.Edit
	}
	return terms
}

// Item is a timer as a bulk job found it.
type Item struct {
	wire.Key
	RunID string `json:"run_id"`
	// Tag is its [timer.Memo.Tag].
	Tag   string       `json:"tag"`
	DueAt wire.Instant `json:"due_at"`
}

// Page is a stored page of what a bulk job found. Outcomes are those of the first
// items, in their order: none before the job has been there.
type Page struct {
	Items    []Item    `json:"items"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
}

// Result says in one word what became of a timer.
type Result string

// The closed list of results.
const (
	// ResultDone: it was done.
	ResultDone Result = "done"
	// ResultPending: it is durable, and comes before any callback; no worker had applied it.
	ResultPending Result = "pending"
	// ResultSkipped: the timer is not any more what was found.
	ResultSkipped Result = "skipped"
	// ResultFailed: it could not be done.
	ResultFailed Result = "failed"
)

// Results lists every result.
func Results() []Result {
	return []Result{ResultDone, ResultPending, ResultSkipped, ResultFailed}
}

// Outcome is what became of a timer.
type Outcome struct {
	Result Result `json:"result"`
	// Code is why it was skipped or failed, and Status that of the timer, where it was the
	// reason.
	Code   wire.Code    `json:"code,omitzero"`
	Status timer.Status `json:"timer_status,omitzero"`
	// Detail names the field that does not go with the timer.
	Detail string `json:"detail,omitzero"`
}

// Line is what a reader is shown of what became of a timer.
type Line struct {
	wire.Key
	Outcome
}

// BulkProgress is how far a bulk job has come, and what it ends with.
type BulkProgress struct {
	Tally
	Position
	// Pages is how many pages were found.
	Pages int `json:"pages,omitzero"`
	// Outcomes are those of the page that is worked on.
	Outcomes []Outcome `json:"outcomes,omitempty"`
}

// At is the number of the page that is worked on.
func (p BulkProgress) At() int {
	number, _ := strconv.Atoi(string(p.Page)) // the first one has no token
	return number
}

// OutcomesOf are those of a page, as far as the job has been there and has not stored them.
func (p BulkProgress) OutcomesOf(number int) []Outcome {
	if number != p.At() || p.After == "" {
		return nil
	}
	return p.Outcomes
}

// Token is the token of a page by its number.
func Token(number int) []byte { return []byte(strconv.Itoa(number)) }
