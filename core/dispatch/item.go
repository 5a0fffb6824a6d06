package dispatch

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Item is the subject of one callback of a dispatch.
type Item struct {
	// ID is the client's own, in the form of a business id.
	ID string `json:"id"`
	// Payload is handed to the receiver byte for byte; empty for none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Attempts and Failure are from earlier attempts, if it is tried again.
	Attempts int               `json:"attempts,omitzero"`
	Failure  *delivery.Failure `json:"failure,omitempty"`
	// Refusals counts the callbacks whose receiver accepted them but refused the item.
	Refusals int `json:"-"`
}

// Check returns what is wrong with a client's item.
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

// CheckItems returns what is wrong with the items of an order.
func CheckItems(items []Item) (errs wire.FieldErrors) {
	if !wire.EnforceLength(&errs, ListItems, "/items", len(items)) {
		return errs
	}
	if len(items) == 0 {
		errs.Add("/items", wire.CodeRequired, "must have at least one item")
	}
	first, size := make(map[string]int, len(items)), 0
	for i, item := range items {
		pointer := "/items/" + strconv.Itoa(i)
		errs.Under(pointer, item.Check())
		if earlier, twice := first[item.ID]; twice {
			errs.Add(pointer+"/id", wire.CodeConflict, "is also the id of /items/"+strconv.Itoa(earlier))
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

// ItemID returns the webhook id of an item, the same for every attempt. It depends on the
// payload too: a receiver that deduplicates by message id takes each content once.
func (d ID) ItemID(item Item) string {
	return d.messageID("item", item.ID, string(item.Payload))
}

// PageID returns the webhook id of a callback for several items. The same body keeps its id
// until the receiver refuses one of the items. It has taken that message, so refused items need
// another one, even if they are the whole body.
func (d ID) PageID(items []Item, body []byte) string {
	refusals := 0
	for _, item := range items {
		refusals += item.Refusals
	}
	return d.messageID("page", strconv.Itoa(refusals), string(body))
}

// QuestionID returns the webhook id of a request to a loader.
func (d ID) QuestionID(shard int, cursor string) string {
	return d.messageID("loader", strconv.Itoa(shard), cursor)
}

// messageID returns a webhook id of an occurrence. Only the last part may have line ends.
func (d ID) messageID(parts ...string) string {
	return timer.MessageID("dispatch\n" + d.String() + "\n" + strconv.Itoa(d.Occurrence) + "\n" + strings.Join(parts, "\n"))
}

// Failure is an item that was given up.
type Failure struct {
	Item
	WebhookID string `json:"webhook_id"`
}
