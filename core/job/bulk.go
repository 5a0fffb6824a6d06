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

// Operation is the change to each timer that a bulk job finds.
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

// Bulk is an order to apply one operation to all timers that match a filter, at most PerSecond
// of them in a second.
type Bulk struct {
	// ID is the client's own, or generated.
	ID        string       `json:"id"`
	Operation Operation    `json:"operation"`
	Filter    timer.Filter `json:"filter"`
	// Shift is the distance of a move; it may be negative.
	Shift wire.Duration `json:"shift,omitzero"`
	// Edit is the change of an edit. Stored, its header values are sealed.
	Edit      *timer.Terms `json:"edit,omitempty"`
	PerSecond float64      `json:"per_second"`
	// BookedBefore, of Wakecall's own order, cancels every timer booked before it, in any later
	// state. The job is repeated until it finds none. It is zero for a client's order.
	BookedBefore wire.Instant `json:"booked_before,omitzero"`
	// DryRun reports whether the timers are only counted.
	DryRun bool `json:"dry_run,omitzero"`
	// Counted is the dry run whose timers the job works on, as they were found. If it is empty, the
	// job searches by itself.
	Counted string `json:"counted,omitzero"`
	// CountedPages is the number of pages that this dry run has stored.
	CountedPages int `json:"counted_pages,omitzero"`
	// Fingerprint is a digest of the client's order.
	Fingerprint string `json:"fingerprint,omitzero"`
	// By is the author of the order; nil if unknown. The job works on the author's behalf.
	By *wire.Actor `json:"by,omitempty"`
}

var bulkID = regexp.MustCompile(fmt.Sprintf("^[A-Za-z0-9._:~@=+-]{1,%d}$", MaxID))

// CheckID returns what is wrong with the id of a bulk job.
func CheckID(id string) (errs wire.FieldErrors) {
	if !bulkID.MatchString(id) || wire.IsDots(id) {
		errs.Add("/id", wire.CodeInvalidParameter,
			fmt.Sprintf("must be 1 to %d characters of A-Z a-z 0-9 . _ : ~ @ = + -, and neither . nor ..", MaxID))
	}
	return errs
}

// Check returns what is wrong with the order, field by field.
func (b Bulk) Check(now time.Time) (errs wire.FieldErrors) {
	errs = append(errs, b.checkID()...)
	if !slices.Contains(Operations(), b.Operation) {
		errs.Add("/operation", wire.CodeInvalidParameter, fmt.Sprintf("must be one of %v", Operations()))
		return errs
	}
	errs.Under("/filter", b.checkFilter())
	errs = append(errs, b.checkShift()...)
	errs = append(errs, b.checkEdit(now)...)
	if b.DryRun && b.Counted != "" {
		errs.Add("/counted", wire.CodeConflict, "is allowed only without dry_run")
	}
	if !(b.PerSecond >= MinRate && b.PerSecond <= MaxRate) { // also refuses NaN
		errs.AddRange("/per_second", MinRate, MaxRate)
	}
	return errs
}

// OwnID begins the ids of Wakecall's own bulk jobs.
const OwnID = "policy:"

// checkID refuses an id of Wakecall's own jobs too: a job under the id of the next sweep would
// replace it.
func (b Bulk) checkID() (errs wire.FieldErrors) {
	errs = CheckID(b.ID)
	if strings.HasPrefix(b.ID, OwnID) {
		errs.Add("/id", wire.CodeInvalidParameter, "must not begin with "+OwnID+", as those of Wakecall's own jobs do")
	}
	return errs
}

// checkFilter refuses a filter that does not fit the operation.
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
		errs.Add("/ended_from", wire.CodeConflict, "is allowed only with redeliver: no open timer has ended")
	}
	if b.Operation != Redeliver && b.Filter.EndedTo != 0 {
		errs.Add("/ended_to", wire.CodeConflict, "is allowed only with redeliver: no open timer has ended")
	}
	return errs
}

func (b Bulk) checkShift() (errs wire.FieldErrors) {
	const pointer = "/shift"
	switch {
	case b.Operation != Move && b.Shift != 0:
		errs.Add(pointer, wire.CodeConflict, "is allowed only with move")
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
		errs.Add(pointer, wire.CodeConflict, "is allowed only with edit")
	case b.Operation != Edit:
	case b.Edit == nil:
		errs.Add(pointer, wire.CodeRequired, "is required")
	case b.Edit.IsZero():
		errs.AddBeside(pointer, wire.CodeRequired, "name at least one field to change", pointer)
	default:
		errs.Under(pointer, append(b.Edit.RefuseTimes(), b.Edit.CheckChange(now)...))
	}
	return errs
}

// Signed returns the order with its fingerprint.
func (b Bulk) Signed() Bulk {
	b.Fingerprint, b.By = "", nil
	// An order holds no channel, function or cycle. It always marshals unless its rate is NaN,
	// and the check refuses that.
	text, _ := json.Marshal(b)
	sum := sha256.Sum256(text)
	b.Fingerprint = hex.EncodeToString(sum[:16])
	return b
}

// AsOf returns the order as given at an instant. A redelivery leaves out later failures.
func (b Bulk) AsOf(now wire.Instant) Bulk {
	if b.Operation == Redeliver && (b.Filter.EndedTo == 0 || b.Filter.EndedTo > now) {
		b.Filter.EndedTo = now
	}
	return b
}

// mostSweeps bounds the repetitions of a job that must miss nothing. The second one finds what
// the first one missed. More are for timers that change under the job.
const mostSweeps = 50

// NextSweep returns the order for the next sweep. Lists lag behind, and a search may miss a timer
// that begins another run. ok is false after mostSweeps.
func (b Bulk) NextSweep() (_ Bulk, ok bool) {
	id, number, _ := strings.Cut(b.ID, "~")
	times, _ := strconv.Atoi(number)
	b.ID = id + "~" + strconv.Itoa(times+1)
	return b, times < mostSweeps
}

// Admits reports whether the order covers a timer, by criteria that lists cannot check.
func (b Bulk) Admits(view timer.View) bool {
	return b.Filter.Admits(view) && (b.BookedBefore == 0 || view.CreatedAt <= b.BookedBefore)
}

// ChangeFingerprint returns the fingerprint of timers that this job has changed.
func (b Bulk) ChangeFingerprint() string { return "bulk:" + b.ID }

// Terms returns the change to a timer that was found due at an instant. A timer moved into the
// past, however far, rings at once.
func (b Bulk) Terms(found wire.Instant, now time.Time) (terms timer.Terms) {
	switch {
	case b.Operation == Move:
		due := max(found.Add(b.Shift.D()), wire.At(now.Add(time.Second-timer.MaxPast))) // the check happens a moment later
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
	// Tag is the timer's [timer.Memo.Tag].
	Tag   string       `json:"tag"`
	DueAt wire.Instant `json:"due_at"`
}

// Page is a stored page of found timers. Outcomes belong to the first items, in order. There are
// none before the job reaches the page.
type Page struct {
	Items    []Item    `json:"items"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
	// New reports whether the page must not replace one with its number. It is not stored.
	New bool `json:"-"`
}

// Result is the kind of an outcome.
type Result string

// The closed list of results.
const (
	// ResultDone: the operation was carried out.
	ResultDone Result = "done"
	// ResultPending: the change is durable and precedes any callback; no worker had applied it.
	ResultPending Result = "pending"
	// ResultSkipped: the timer has changed since it was found.
	ResultSkipped Result = "skipped"
	// ResultFailed: the operation failed.
	ResultFailed Result = "failed"
	// ResultFound: a dry run has found the timer, and changed nothing.
	ResultFound Result = "found"
)

// Results lists every result.
func Results() []Result {
	return []Result{ResultDone, ResultPending, ResultSkipped, ResultFailed, ResultFound}
}

// Outcome is the outcome for one timer.
type Outcome struct {
	Result Result `json:"result"`
	// Code is why it was skipped or failed. Status is the status of the timer, if that was the
	// reason.
	Code   wire.Code    `json:"code,omitzero"`
	Status timer.Status `json:"timer_status,omitzero"`
	// Detail names the field that does not fit the timer.
	Detail string `json:"detail,omitzero"`
}

// Line is one outcome as readers see it.
type Line struct {
	wire.Key
	Outcome
	// DueAt is when a timer that a dry run has found was due then.
	DueAt wire.Instant `json:"due_at,omitzero"`
}

// found are the lines of a page of a dry run.
func (p Page) found() (lines []Line) {
	for _, item := range p.Items {
		lines = append(lines, Line{Key: item.Key, Outcome: Outcome{Result: ResultFound}, DueAt: item.DueAt})
	}
	return lines
}

// Lines returns what readers see of a page: what a dry run has found, or else the outcomes. told are
// the job's own, which may be more than the page has stored.
func (p Page) Lines(dryRun bool, told []Outcome) (lines []Line) {
	if dryRun {
		return p.found()
	}
	outcomes := p.Outcomes
	if len(told) > len(outcomes) {
		outcomes = told
	}
	for i, outcome := range outcomes[:min(len(outcomes), len(p.Items))] {
		lines = append(lines, Line{Key: p.Items[i].Key, Outcome: outcome})
	}
	return lines
}

// BulkProgress is the progress of a bulk job, and its result.
type BulkProgress struct {
	Tally
	Position
	// Pages is the number of pages found.
	Pages int `json:"pages,omitzero"`
	// Outcomes are the outcomes on the current page.
	Outcomes []Outcome `json:"outcomes,omitempty"`
}

// At returns the number of the current page.
func (p BulkProgress) At() int { return PageNumber(p.Page) }

// OutcomesOf returns the outcomes of a page that are not stored yet.
func (p BulkProgress) OutcomesOf(number int) []Outcome {
	if number != p.At() || p.After == "" {
		return nil
	}
	return p.Outcomes
}

// Token returns the token of a page by its number.
func Token(number int) []byte { return []byte(strconv.Itoa(number)) }

// PageNumber is the inverse of [Token]. The first page has no token.
func PageNumber(token []byte) int {
	number, _ := strconv.Atoi(string(token))
	return number
}
