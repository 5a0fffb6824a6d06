package timer

import (
	"encoding/json"
	"strconv"
	"strings"
)

// DispatchItem is what one callback of a dispatch is about.
type DispatchItem struct {
	// ID is the client's own, of the form of a business id.
	ID string `json:"id"`
	// Payload is handed to the receiver byte for byte; empty for none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Attempts and Failure are what became of it before, where it is tried again.
	Attempts int      `json:"attempts,omitzero"`
	Failure  *Failure `json:"failure,omitempty"`
	// Refusals is how often a receiver that took the callback has refused the item.
	Refusals int `json:"-"`
}

// Check returns what is wrong with an item that a client brings.
func (i DispatchItem) Check() (errs FieldErrors) {
	if !isBusinessID(i.ID) {
		errs.Add("/id", CodeInvalidBusinessID,
			"must be 1 to "+strconv.Itoa(MaxBusinessIDLen)+" characters of A-Z a-z 0-9 . _ : ~ @ = + -, and neither . nor ..")
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

// ItemID is the webhook id of an item, the same for every attempt. It follows from the
// payload as well: a receiver that goes by message ids takes each content once.
func (d DispatchID) ItemID(item DispatchItem) string {
	return d.messageID("item", item.ID, string(item.Payload))
}

// PageID is the webhook id of a callback for several items. The same body keeps it, as long
// as the receiver has refused none of them: it has taken a message then, and what it refused
// comes with another one, also where that is the whole body.
func (d DispatchID) PageID(items []DispatchItem, body []byte) string {
	refusals := 0
	for _, item := range items {
		refusals += item.Refusals
	}
	return d.messageID("page", strconv.Itoa(refusals), string(body))
}

// QuestionID is the webhook id of what a loader is asked.
func (d DispatchID) QuestionID(shard int, cursor string) string {
	return d.messageID("loader", strconv.Itoa(shard), cursor)
}

// messageID is a webhook id of an occurrence. Only the last part may have line ends.
func (d DispatchID) messageID(parts ...string) string {
	return MessageID("dispatch\n" + d.String() + "\n" + strconv.Itoa(d.Occurrence) + "\n" + strings.Join(parts, "\n"))
}

// DispatchFailure is an item that was given up.
type DispatchFailure struct {
	DispatchItem
	WebhookID string `json:"webhook_id"`
}
