package site

import (
	"bytes"
	"net/url"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/words"
)

// The templates of what of a page changes.
const (
	partPage  = "part.page"
	partStrip = "part.strip"
	partOver  = "part.over"
	partPlots = "part.plots"
	partDrawn = "part.drawn"
)

// morph is how a page takes what is new. What a user types into stays as it is, with what stood there
// when it was begun: a condition as well. What was opened stays open, and what was answered stays said.
const morph = `{"morphIgnore": ["data-htmx-powered", "open"], "morphSkip": "form.touched, details.ask[open], #drawn, #said", ` +
	`"morphScanLimit": 100, "sse": {"reconnectMaxDelay": 5000}}`

// Morph is how a page takes what is new, as htmx reads it.
func (f Frame) Morph() string { return morph }

// streamOf is the address of what keeps the page of a visit up to date.
func streamOf(v *Visit) string {
	query := url.Values{}
	if v.R.Method == "GET" && v.Live {
		page := v.R.URL.EscapedPath()
		shown := v.R.URL.Query()
		shown.Del("done") // it was said
		if len(shown) > 0 {
			page += "?" + shown.Encode()
		}
		query.Set("page", page)
	}
	if lang, ok := words.Named(v.R.URL.Query().Get("lang")); ok {
		query.Set("lang", string(lang))
	}
	if len(query) == 0 {
		return links.Live
	}
	return links.Live + "?" + query.Encode()
}

// Strip is what a page has on top, to take the place of what it had.
func (c *Site) Strip(v *Visit) []byte { return c.part(v, partStrip) }

// SignedOut says that the session is over.
func (c *Site) SignedOut(v *Visit) []byte { return c.part(v, partOver) }

func (c *Site) part(v *Visit, name string) []byte {
	var body bytes.Buffer
	frame := c.Frame(v, "refused.title")
	if frame.Here = links.Root; v.R.FormValue("page") != "" {
		frame.Here = links.Within(v.R.FormValue("page"))
	}
	if err := c.Templates["refused"].ExecuteTemplate(&body, name, frame); err != nil {
		c.Logger.Error("a part of the console's pages cannot be shown", "part", name, "error", err)
		return nil
	}
	return body.Bytes()
}
