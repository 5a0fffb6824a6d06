package timers

import (
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
)

// payloadPage is what a timer sends to its receiver. The API records who looked at it.
type payloadPage struct {
	site.Frame
	calls.Key
	calls.Sent
	ContentType string
	// Text is the payload byte for byte; "" where it is no text.
	Text string
	// None reports whether the timer has no payload, and LeftOut whether the user may not see it.
	None, LeftOut bool
}

func (c *Pages) showPayload(v *site.Visit) {
	page := &payloadPage{Key: keyIn(v.R)}
	var shown struct {
		calls.Sent
		ContentType string         `json:"content_type"`
		Payload     jsontext.Value `json:"payload"`
		Base64      []byte         `json:"payload_base64"`
	}
	asked := calls.Get(page.Resource()).With(url.Values{"payload": {"true"}})
	asked.Fresh = true // who looks is recorded
	a, problem := c.Call(v, asked, &shown)
	if problem != nil {
		c.RefuseBy(v, problem)
		return
	}
	sent := []byte(shown.Payload)
	if len(sent) == 0 {
		sent = shown.Base64
	}
	page.ContentType, page.Sent = shown.ContentType, shown.Sent
	if utf8.Valid(sent) {
		page.Text = string(sent)
	}
	page.LeftOut = a.Head.Get("Wakecall-Payloads") != ""
	page.None = !page.LeftOut && page.Size == 0
	page.Frame = c.Frame(v, "payload.title")
	c.Render(v, http.StatusOK, "payload", page)
}
