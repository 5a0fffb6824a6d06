package audit

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
)

// outcomeOf returns the outcome of a call with this status.
func outcomeOf(status int) trail.Outcome {
	switch {
	case status >= http.StatusInternalServerError || status == 0:
		return trail.Unknown
	case status >= http.StatusBadRequest:
		return trail.Refused
	case status == http.StatusAccepted:
		return trail.Accepted
	default:
		return trail.Done
	}
}

// Answer records the answer to a call. An unchanged outcome stays so. A read that failed has done
// nothing and shown nothing.
func Answer(r *trail.Record, status int, problem wire.Code) {
	r.Status, r.Problem = status, problem
	switch outcome := outcomeOf(status); {
	case outcome == trail.Unknown && r.Method == http.MethodGet:
		r.Outcome = trail.Refused
	case outcome != trail.Done || r.Outcome != trail.Unchanged:
		r.Outcome = outcome
	}
}

// ItemOf returns the result for a timer of a batch.
func ItemOf(key wire.Key, status int, problem wire.Code) trail.Item {
	item := trail.Item{
		BusinessType: key.BusinessType, BusinessID: key.BusinessID, Outcome: outcomeOf(status), Status: status, Problem: problem,
	}
	if status == http.StatusOK { // booked before
		item.Outcome = trail.Unchanged
	}
	return item
}

// eventOf returns a record in the form of a timer's payload.
func eventOf(r *trail.Record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil || len(text) <= timer.MaxPayload {
		return text, err
	}
	return json.Marshal(r.Short())
}

// lineOf returns a record as a line of a stream.
func lineOf(r *trail.Record) ([]byte, error) {
	text, err := json.Marshal(r)
	return append(text, '\n'), err
}
