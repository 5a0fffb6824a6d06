package timer

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
)

// BulkOperation is what is done with each timer that a bulk job finds.
type BulkOperation string

// The closed list of operations.
const (
	// BulkCancel cancels open timers.
	BulkCancel BulkOperation = "cancel"
	// BulkMove shifts the due time of open timers.
	BulkMove BulkOperation = "move"
	// BulkEdit changes the content of open timers.
	BulkEdit BulkOperation = "edit"
	// BulkFire rings open timers now.
	BulkFire BulkOperation = "fire"
	// BulkRedeliver tries failed timers again.
	BulkRedeliver BulkOperation = "redeliver"
)

// BulkOperations lists every operation.
func BulkOperations() []BulkOperation {
	return []BulkOperation{BulkCancel, BulkMove, BulkEdit, BulkFire, BulkRedeliver}
}

// Bulk is an order to do the same with all timers that a filter finds, at most PerSecond
// of them in a second.
type Bulk struct {
	// ID is the client's own, or one that was made up.
	ID        string        `json:"id"`
	Operation BulkOperation `json:"operation"`
	Filter    Filter        `json:"filter"`
	// Shift is by how much a move moves each due time; it may be negative.
	Shift Duration `json:"shift,omitzero"`
	// Edit is what an edit changes. Stored, its header values are sealed.
	Edit      *Terms  `json:"edit,omitempty"`
	PerSecond float64 `json:"per_second"`
	// BookedBefore, of an order that Wakecall gives itself, has every timer cancelled that was
	// booked by then, whatever has become of it since it was found. The job is repeated until it
	// finds none. Zero for an order of a client.
	BookedBefore Instant `json:"booked_before,omitzero"`
	// DryRun is whether the timers are counted, and left alone.
	DryRun bool `json:"dry_run,omitzero"`
	// Fingerprint is a digest of the order as the client gave it.
	Fingerprint string `json:"fingerprint,omitzero"`
	// By is who gave the order; nil where nobody knows. The job works on its behalf.
	By *Actor `json:"by,omitempty"`
}

var bulkID = regexp.MustCompile(fmt.Sprintf("^[A-Za-z0-9._:~@=+-]{1,%d}$", MaxBulkID))

// CheckBulkID returns what is wrong with the id of a bulk job.
func CheckBulkID(id string) (errs FieldErrors) {
	if !bulkID.MatchString(id) || isDots(id) {
		errs.Add("/id", CodeInvalidParameter, fmt.Sprintf("must be 1 to %d characters of A-Z a-z 0-9 . _ : ~ @ = + -, and neither . nor ..", MaxBulkID))
	}
	return errs
}

// Check returns what is wrong with the order, field by field.
func (b Bulk) Check() (errs FieldErrors) {
	errs = append(errs, CheckBulkID(b.ID)...)
	if !slices.Contains(BulkOperations(), b.Operation) {
		errs.Add("/operation", CodeInvalidParameter, fmt.Sprintf("must be one of %v", BulkOperations()))
		return errs
	}
	errs.Under("/filter", b.checkFilter())
	errs = append(errs, b.checkShift()...)
	errs = append(errs, b.checkEdit(time.Now())...)
	if !(b.PerSecond >= MinBulkRate && b.PerSecond <= MaxBulkRate) { // refuses NaN as well
		errs.AddRange("/per_second", MinBulkRate, MaxBulkRate)
	}
	return errs
}

// checkFilter refuses a filter that finds what the operation is not for.
func (b Bulk) checkFilter() (errs FieldErrors) {
	errs = b.Filter.Check()
	switch status := b.Filter.Status; {
	case status == "" || !slices.Contains(Statuses(), status):
	case b.Operation == BulkRedeliver && status != Failed:
		errs.Add("/status", CodeConflict, "must be failed: nothing else can be redelivered")
	case b.Operation != BulkRedeliver && status.Finished():
		errs.Add("/status", CodeConflict, "must be one of an open timer: nothing else can be changed")
	}
	if b.Operation != BulkRedeliver && b.Filter.EndedFrom != 0 {
		errs.Add("/ended_from", CodeConflict, "goes with redeliver: no open timer has ended")
	}
	if b.Operation != BulkRedeliver && b.Filter.EndedTo != 0 {
		errs.Add("/ended_to", CodeConflict, "goes with redeliver: no open timer has ended")
	}
	return errs
}

func (b Bulk) checkShift() (errs FieldErrors) {
	const pointer = "/shift"
	switch {
	case b.Operation != BulkMove && b.Shift != 0:
		errs.Add(pointer, CodeConflict, "goes with move")
	case b.Operation == BulkMove && b.Shift == 0:
		errs.Add(pointer, CodeRequired, "is required, such as 2h or -30m")
	case b.Shift.D() > MaxAhead || b.Shift.D() < -MaxAhead:
		errs.AddRange(pointer, Duration(-MaxAhead), Duration(MaxAhead))
	}
	return errs
}

func (b Bulk) checkEdit(now time.Time) (errs FieldErrors) {
	const pointer = "/edit"
	switch {
	case b.Operation != BulkEdit && b.Edit != nil:
		errs.Add(pointer, CodeConflict, "goes with edit")
	case b.Operation != BulkEdit:
	case b.Edit == nil:
		errs.Add(pointer, CodeRequired, "is required")
	case b.Edit.IsZero():
		errs.Add(pointer, CodeRequired, "name at least one field to change")
	default:
		errs.Under(pointer, append(b.Edit.dated(), b.Edit.CheckChange(now)...))
	}
	return errs
}

// dated names each field that says when a timer rings.
func (t Terms) dated() (errs FieldErrors) {
	for _, field := range []struct {
		pointer string
		said    bool
	}{
		{"/due_at", t.DueAt != nil}, {"/due_local", t.DueLocal != nil}, {"/timezone", t.Timezone != ""}, {"/delay", t.Delay != nil},
		{"/max_wait", t.MaxWait != nil}, {"/recurrence", t.Recurrence != nil},
		{"/paused", t.Paused != nil},
	} {
		if field.said {
			errs.Add(field.pointer, CodeConflict, "is no content; move timers by a shift")
		}
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
func (b Bulk) Admits(view View) bool {
	return b.Filter.Admits(view) && (b.BookedBefore == 0 || view.CreatedAt <= b.BookedBefore)
}

// Mark is what a timer shows in its fingerprint that this job has changed.
func (b Bulk) Mark() string { return "bulk:" + b.ID }

// Terms are what the operation changes now of a timer that was found due at an instant. One
// that comes to lie in the past rings at once, however long ago that is.
func (b Bulk) Terms(found Instant, now time.Time) (terms Terms) {
	switch {
	case b.Operation == BulkMove:
		due := max(found.Add(b.Shift.D()), At(now.Add(time.Second-MaxPast))) // the check is made a moment later
		terms.DueAt = &due
	case b.Edit != nil:
		terms = *b.Edit
	}
	return terms
}

// BulkItem is a timer as a bulk job found it.
type BulkItem struct {
	Key
	RunID string `json:"run_id"`
	// Tag is its [Memo.Tag].
	Tag   string  `json:"tag"`
	DueAt Instant `json:"due_at"`
}

// BulkPage is a stored page of what a bulk job found. Outcomes are those of the first
// items, in their order: none before the job has been there.
type BulkPage struct {
	Items    []BulkItem    `json:"items"`
	Outcomes []BulkOutcome `json:"outcomes,omitempty"`
}

// BulkResult says in one word what became of a timer.
type BulkResult string

// The closed list of results.
const (
	// BulkDone: it was done.
	BulkDone BulkResult = "done"
	// BulkPending: it is durable, and comes before any callback; no worker had applied it.
	BulkPending BulkResult = "pending"
	// BulkSkipped: the timer is not any more what was found.
	BulkSkipped BulkResult = "skipped"
	// BulkFailed: it could not be done.
	BulkFailed BulkResult = "failed"
)

// BulkResults lists every result.
func BulkResults() []BulkResult {
	return []BulkResult{BulkDone, BulkPending, BulkSkipped, BulkFailed}
}

// BulkOutcome is what became of a timer.
type BulkOutcome struct {
	Result BulkResult `json:"result"`
	// Code is why it was skipped or failed, and Status that of the timer, where it was the
	// reason.
	Code   Code   `json:"code,omitzero"`
	Status Status `json:"timer_status,omitzero"`
	// Detail names the field that does not go with the timer.
	Detail string `json:"detail,omitzero"`
}

// BulkLine is what a reader is shown of what became of a timer.
type BulkLine struct {
	Key
	BulkOutcome
}

// BulkProgress is how far a bulk job has come, and what it ends with.
type BulkProgress struct {
	JobCounts
	JobCursor
	// Pages is how many pages were found.
	Pages int `json:"pages,omitzero"`
	// Outcomes are those of the page that is worked on.
	Outcomes []BulkOutcome `json:"outcomes,omitempty"`
}

// At is the number of the page that is worked on.
func (p BulkProgress) At() int {
	number, _ := strconv.Atoi(string(p.Page)) // the first one has no token
	return number
}

// OutcomesOf are those of a page, as far as the job has been there and has not stored them.
func (p BulkProgress) OutcomesOf(number int) []BulkOutcome {
	if number != p.At() || p.After == "" {
		return nil
	}
	return p.Outcomes
}

// BulkToken is the token of a page by its number.
func BulkToken(number int) []byte { return []byte(strconv.Itoa(number)) }
