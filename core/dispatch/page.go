package dispatch

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Page is a stored page of items.
type Page struct {
	Items []Item
	// Due is when its items are tried again; zero for at once.
	Due wire.Instant
}

// pageHead and itemHead are the lines before the payloads of a stored page. A payload is stored
// byte for byte: JSON within JSON would lose its spaces.
type (
	pageHead struct {
		Items int          `json:"items"`
		Due   wire.Instant `json:"due,omitzero"`
	}
	itemHead struct {
		ID       string            `json:"id"`
		Bytes    int               `json:"bytes,omitzero"`
		Attempts int               `json:"attempts,omitzero"`
		Refusals int               `json:"refusals,omitzero"`
		Failure  *delivery.Failure `json:"failure,omitempty"`
	}
)

// Encode returns the stored form of the page: a line of JSON, and for each item a line of JSON
// and its payload.
func (p Page) Encode() []byte {
	var b bytes.Buffer
	write := func(head any) {
		line, _ := json.Marshal(head) // holds no channel, function or cycle
		b.Write(line)
		b.WriteByte('\n')
	}
	write(pageHead{Items: len(p.Items), Due: p.Due})
	for _, item := range p.Items {
		write(itemHead{ID: item.ID, Bytes: len(item.Payload), Attempts: item.Attempts, Refusals: item.Refusals, Failure: item.Failure})
		b.Write(item.Payload)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

var errPage = errors.New("the stored page of a dispatch cannot be read")

// DecodePage is the inverse of [Page.Encode]. The payloads share memory with stored.
func DecodePage(stored []byte) (Page, error) {
	var head pageHead
	rest, ok := cutLine(stored, &head)
	if !ok || head.Items < 0 || head.Items > len(rest) {
		return Page{}, errPage
	}
	page := Page{Items: make([]Item, head.Items), Due: head.Due}
	for i := range page.Items {
		var line itemHead
		if rest, ok = cutLine(rest, &line); !ok || line.Bytes < 0 || line.Bytes >= len(rest) {
			return Page{}, errPage
		}
		page.Items[i] = Item{ID: line.ID, Attempts: line.Attempts, Refusals: line.Refusals, Failure: line.Failure}
		if line.Bytes > 0 {
			page.Items[i].Payload = rest[:line.Bytes:line.Bytes]
		}
		rest = rest[line.Bytes+1:]
	}
	return page, nil
}

func cutLine(from []byte, head any) (rest []byte, ok bool) {
	line, rest, found := bytes.Cut(from, []byte{'\n'})
	return rest, found && json.Unmarshal(line, head) == nil
}
