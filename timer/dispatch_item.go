package timer

import (
	"encoding/json"
	"strconv"
	"strings"
)

// DispatchItem is what one callback of a dispatch is about.
type DispatchItem struct {
	// ID is the client's own, of the form of a business id. The message id follows from
	// it: two items of one id are one to a receiver that goes by message ids.
	ID string `json:"id"`
	// Payload is handed to the receiver byte for byte; empty for none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Attempts and Failure are what became of it before, where it is tried again.
	Attempts int      `json:"attempts,omitzero"`
	Failure  *Failure `json:"failure,omitempty"`
}

// Check returns what is wrong with an item that a client brings.
func (i DispatchItem) Check() (errs FieldErrors) {
	if !businessID.MatchString(i.ID) {
		errs.Add("/id", CodeInvalidBusinessID,
			"must be 1 to "+strconv.Itoa(MaxBusinessIDLen)+" characters of A-Z a-z 0-9 . _ : ~ @ = + -")
	}
	if len(i.Payload) > MaxDispatchItem {
		errs.AddMost("/payload", MaxDispatchItem, "bytes")
	}
	return errs
}

// CheckDispatchItems returns what is wrong with the items that an order brings along.
func CheckDispatchItems(items []DispatchItem) (errs FieldErrors) {
	if !enforceLength(&errs, listDispatchItems, "/items", len(items)) {
		return errs
	}
	if len(items) == 0 {
		errs.Add("/items", CodeRequired, "must have an item at least")
	}
	first, size := make(map[string]int, len(items)), 0
	for i, item := range items {
		pointer := "/items/" + strconv.Itoa(i)
		errs.Under(pointer, item.Check())
		if earlier, twice := first[item.ID]; twice {
			errs.Add(pointer+"/id", CodeConflict, "is that of /items/"+strconv.Itoa(earlier)+" as well")
		} else {
			first[item.ID] = i
		}
		size += len(item.Payload)
	}
	if size > MaxInlineBytes {
		errs.AddMost("/items", MaxInlineBytes, "bytes of payloads: upload them")
	}
	return errs
}

// DispatchID names one occurrence of a dispatch.
type DispatchID struct {
	Key
	Occurrence int `json:"occurrence,omitzero"`
}

// MessageID is the webhook id of an item, the same for every attempt.
func (d DispatchID) MessageID(item string) string {
	var subject strings.Builder
	subject.WriteString("dispatch\n")
	subject.WriteString(d.String())
	subject.WriteByte('\n')
	subject.WriteString(strconv.Itoa(d.Occurrence))
	subject.WriteByte('\n')
	subject.WriteString(item)
	return MessageID(subject.String())
}

// DispatchFailure is an item that was given up.
type DispatchFailure struct {
	DispatchItem
	WebhookID string `json:"webhook_id"`
}
