package trail

import (
	"slices"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Outcome is the outcome of a call.
type Outcome string

// The closed list of outcomes.
const (
	// Done: the request was carried out.
	Done Outcome = "done"
	// Accepted: it is durable, and takes effect later.
	Accepted Outcome = "accepted"
	// Unchanged: the call changed nothing, or was only a trial.
	Unchanged Outcome = "unchanged"
	// Refused: nothing was done.
	Refused Outcome = "refused"
	// Unknown: it is unknown whether it was carried out. The call may be repeated.
	Unknown Outcome = "unknown"
)

// Outcomes lists every outcome.
func Outcomes() []Outcome { return []Outcome{Done, Accepted, Unchanged, Refused, Unknown} }

// Record is the result of one changing call. It holds no payload, no header and no secret.
type Record struct {
	// ID is unique to the call.
	ID string       `json:"id"`
	At wire.Instant `json:"at"`
	// Who called; nil if the caller did not authenticate.
	Who *wire.Actor `json:"who"`
	// From is the address that the call came from.
	From      string `json:"from"`
	RequestID string `json:"request_id"`
	Method    string `json:"method"`
	// Route is the template of the path. Target has its parameters.
	Route  string `json:"route"`
	Target Target `json:"target,omitzero"`
	// RevisionBefore and Revision are the timer's revisions, or the policy's versions, before
	// and after the call.
	RevisionBefore int                 `json:"revision_before,omitzero"`
	Revision       int                 `json:"revision,omitzero"`
	Changes        []timer.FieldChange `json:"changes,omitempty"`
	// Items are the results for each timer of a batch. If the record would exceed an event, it
	// omits them and the values of changes, and LeftOut is their number.
	Items   []Item  `json:"items,omitempty"`
	LeftOut int     `json:"left_out,omitzero"`
	Outcome Outcome `json:"outcome"`
	// Status is the status of the answer, 0 if there was none, and Problem its slug.
	Status  int       `json:"status"`
	Problem wire.Code `json:"problem,omitzero"`
}

// Target is the object of a call.
type Target struct {
	BusinessType  string   `json:"business_type,omitzero"`
	BusinessTypes []string `json:"business_types,omitempty"`
	BusinessID    string   `json:"business_id,omitzero"`
	// ID is the id of a job or of a delivery.
	ID string `json:"id,omitzero"`
	// Everything reports whether it concerns all business types.
	Everything bool `json:"everything,omitzero"`
}

// Names reports whether the call was about a business type.
func (t Target) Names(businessType string) bool {
	return t.BusinessType == businessType || slices.Contains(t.BusinessTypes, businessType)
}

// Types are the business types that the call was about; none for a call about all or about none.
func (t Target) Types() []string {
	if t.BusinessType == "" {
		return t.BusinessTypes
	}
	return append([]string{t.BusinessType}, t.BusinessTypes...)
}

// Item is the result for one timer of a batch.
type Item struct {
	BusinessType string    `json:"business_type,omitzero"`
	BusinessID   string    `json:"business_id,omitzero"`
	Revision     int       `json:"revision,omitzero"`
	Outcome      Outcome   `json:"outcome"`
	Status       int       `json:"status"`
	Problem      wire.Code `json:"problem,omitzero"`
}

// Short returns the record without its items and without the values of its changes.
func (r *Record) Short() *Record {
	short := *r
	short.Items, short.LeftOut, short.Changes = nil, len(r.Items), nil
	for _, change := range r.Changes {
		short.Changes = append(short.Changes, timer.FieldChange{Field: change.Field})
	}
	return &short
}
