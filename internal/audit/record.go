package audit

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Outcome is what a call came to.
type Outcome string

// The closed list of outcomes.
const (
	// Done: what was asked for is so.
	Done Outcome = "done"
	// Accepted: it is durable, and takes effect by itself.
	Accepted Outcome = "accepted"
	// Unchanged: it was so before, or was only tried.
	Unchanged Outcome = "unchanged"
	// Refused: nothing was done.
	Refused Outcome = "refused"
	// Unknown: nobody can tell whether it was done. The call may be repeated.
	Unknown Outcome = "unknown"
)

// Outcomes lists every outcome.
func Outcomes() []Outcome { return []Outcome{Done, Accepted, Unchanged, Refused, Unknown} }

// outcomeOf is the outcome of a call that was answered with a status.
func outcomeOf(status int) Outcome {
	switch {
	case status >= http.StatusInternalServerError || status == 0:
		return Unknown
	case status >= http.StatusBadRequest:
		return Refused
	case status == http.StatusAccepted:
		return Accepted
	default:
		return Done
	}
}

// Record is what one call came to that changes something. It holds no payload, no header and
// no secret.
type Record struct {
	// ID is unique to the call.
	ID string       `json:"id"`
	At wire.Instant `json:"at"`
	// Who called; nil where the caller did not show who it is.
	Who *wire.Actor `json:"who"`
	// From is the address that the call came from.
	From      string `json:"from"`
	RequestID string `json:"request_id"`
	Method    string `json:"method"`
	// Route is the template of the path, whose parameters stand in Target.
	Route  string `json:"route"`
	Target Target `json:"target,omitzero"`
	// RevisionBefore and Revision are those of the timer, or the versions of the policy, that the
	// call found and left.
	RevisionBefore int                 `json:"revision_before,omitzero"`
	Revision       int                 `json:"revision,omitzero"`
	Changes        []timer.FieldChange `json:"changes,omitempty"`
	// Items are what became of each timer of a batch. LeftOut is how many are not told, nor any
	// value of a change, since the record would be larger than an event may be.
	Items   []Item  `json:"items,omitempty"`
	LeftOut int     `json:"left_out,omitzero"`
	Outcome Outcome `json:"outcome"`
	// Status is the answer's, 0 where there was none, and Problem its slug.
	Status  int       `json:"status"`
	Problem wire.Code `json:"problem,omitzero"`
}

// Target is what a call is about.
type Target struct {
	BusinessType  string   `json:"business_type,omitzero"`
	BusinessTypes []string `json:"business_types,omitempty"`
	BusinessID    string   `json:"business_id,omitzero"`
	// ID is that of a job or of a delivery.
	ID string `json:"id,omitzero"`
	// Everything is whether it is about all business types.
	Everything bool `json:"everything,omitzero"`
}

// Item is what became of one timer of a batch.
type Item struct {
	BusinessType string    `json:"business_type,omitzero"`
	BusinessID   string    `json:"business_id,omitzero"`
	Revision     int       `json:"revision,omitzero"`
	Outcome      Outcome   `json:"outcome"`
	Status       int       `json:"status"`
	Problem      wire.Code `json:"problem,omitzero"`
}

// Answer notes how the call was answered. What was noted as unchanged stays so.
func (r *Record) Answer(status int, problem wire.Code) {
	r.Status, r.Problem = status, problem
	if outcome := outcomeOf(status); outcome != Done || r.Outcome != Unchanged {
		r.Outcome = outcome
	}
}

// ItemOf is what became of a timer of a batch.
func ItemOf(key wire.Key, status int, problem wire.Code) Item {
	item := Item{BusinessType: key.BusinessType, BusinessID: key.BusinessID, Outcome: outcomeOf(status), Status: status, Problem: problem}
	if status == http.StatusOK { // it was booked before
		item.Outcome = Unchanged
	}
	return item
}

// event is the record as a timer delivers it.
func (r *Record) event() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil || len(text) <= timer.MaxPayload {
		return text, err
	}
	short := *r
	short.Items, short.LeftOut, short.Changes = nil, len(r.Items), nil
	for _, change := range r.Changes {
		short.Changes = append(short.Changes, timer.FieldChange{Field: change.Field})
	}
	return json.Marshal(short)
}

// line is the record as it stands in a stream.
func (r *Record) line() ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}
