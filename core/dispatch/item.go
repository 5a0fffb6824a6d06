package dispatch

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Item is what one callback of a dispatch is about.
type Item struct {
	// ID is the client's own, of the form of a business id.
	ID string `json:"id"`
	// Payload is handed to the receiver byte for byte; empty for none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Attempts and Failure are what became of it before, where it is tried again.
	Attempts int               `json:"attempts,omitzero"`
	Failure  *delivery.Failure `json:"failure,omitempty"`
	// Refusals is how often a receiver that took the callback has refused the item.
	Refusals int `json:"-"`
}

// Check returns what is wrong with an item that a client brings.
func (i Item) Check() (errs wire.FieldErrors) {
	if !wire.IsBusinessID(i.ID) {
		errs.Add("/id", wire.CodeInvalidBusinessID,
			"must be 1 to "+strconv.Itoa(wire.MaxBusinessIDLen)+" characters of A-Z a-z 0-9 . _ : ~ @ = + -, and neither . nor ..")
	}
	if len(i.Payload) > MaxItem {
		errs.AddMost("/payload", MaxItem, "bytes")
	}
	return errs
}

// CheckItems returns what is wrong with the items that an order brings along.
func CheckItems(items []Item) (errs wire.FieldErrors) {
	if !wire.EnforceLength(&errs, ListItems, "/items", len(items)) {
		return errs
	}
	if len(items) == 0 {
		errs.Add("/items", wire.CodeRequired, "must have an item at least")
	}
	first, size := make(map[string]int, len(items)), 0
	for i, item := range items {
		pointer := "/items/" + strconv.Itoa(i)
		errs.Under(pointer, item.Check())
		if earlier, twice := first[item.ID]; twice {
			errs.Add(pointer+"/id", wire.CodeConflict, "is that of /items/"+strconv.Itoa(earlier)+" as well")
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

// ID names one occurrence of a dispatch.
type ID struct {
	wire.Key
	Occurrence int `json:"occurrence,omitzero"`
}

// ItemID is the webhook id of an item, the same for every attempt. It follows from the
// payload as well: a receiver that goes by message ids takes each content once.
func (d ID) ItemID(item Item) string {
	return d.messageID("item", item.ID, string(item.Payload))
}

// PageID is the webhook id of a callback for several items. The same body keeps it, as long
// as the receiver has refused none of them: it has taken a message then, and what it refused
// comes with another one, also where that is the whole body.
func (d ID) PageID(items []Item, body []byte) string {
	refusals := 0
	for _, item := range items {
		refusals += item.Refusals
	}
	return d.messageID("page", strconv.Itoa(refusals), string(body))
}

// QuestionID is the webhook id of what a loader is asked.
func (d ID) QuestionID(shard int, cursor string) string {
	return d.messageID("loader", strconv.Itoa(shard), cursor)
}

// messageID is a webhook id of an occurrence. Only the last part may have line ends.
func (d ID) messageID(parts ...string) string {
	return timer.MessageID("dispatch\n" + d.String() + "\n" + strconv.Itoa(d.Occurrence) + "\n" + strings.Join(parts, "\n"))
}

// Failure is an item that was given up.
type Failure struct {
	Item
	WebhookID string `json:"webhook_id"`
}
