package site

import (
	"bytes"
	"net/http"
	"net/url"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/words"
)

// The templates of the changing parts of a page.
const (
	partPage  = "part.page"
	partStrip = "part.strip"
	partOver  = "part.over"
	partPlots = "part.plots"
	partDrawn = "part.drawn"
)

// morph says how htmx updates a page. A form that the user has begun stays as it is, with its ETag. Open details stay
// open, and the answer to a change stays. A gateway that accepts connections and answers nothing is left after 5 s, so
// that the page lives again within 10 s.
const morph = `{"morphIgnore": ["data-htmx-powered", "open"], "morphSkip": "form.touched, details.ask[open], #drawn, #said", ` +
	`"morphScanLimit": 100, "noSwap": [204, 304, "4xx", "5xx"], "sse": {"reconnectMaxDelay": 3000, "connectTimeout": 5000}}`

// Morph is how a page takes what is new, as htmx reads it.
func (f *Frame) Morph() string { return morph }

// streamOf is the address of what keeps the page of a visit up to date.
func streamOf(v *Visit) string {
	query := url.Values{}
	if v.R.Method == "GET" && v.Live && !v.ByScript() { // a part is put into a page without it
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

// headerPartial marks an incomplete part of an open page. The rest is known soon.
const headerPartial = "Wakecall-Partial"

// markPartial marks the answer if the page is incomplete. Only the hub of open pages reads that.
func (v *Visit) markPartial(page any) {
	if of, ok := page.(interface{ Refresh() bool }); ok && v.Part && of.Refresh() {
		v.W.Header().Set(headerPartial, "true")
	}
}

// IsWhole reports whether nothing is missing from a part of an open page, by the head of its answer.
func IsWhole(head http.Header) bool { return head.Get(headerPartial) == "" }

// Strip renders the strip, to replace that of an open page.
func (c *Site) Strip(v *Visit) []byte { return c.part(v, partStrip) }

// SignedOut renders the message that the session is over.
func (c *Site) SignedOut(v *Visit) []byte { return c.part(v, partOver) }

func (c *Site) part(v *Visit, name string) []byte {
	var body bytes.Buffer
	frame := c.Frame(v, "refused.title")
	if frame.Here = links.Root; v.R.FormValue("page") != "" {
		frame.Here = links.Within(v.R.FormValue("page"))
	}
	if err := c.Templates["refused"].ExecuteTemplate(&body, name, &frame); err != nil {
		c.Logger.Error("a part of the console's pages cannot be shown", "part", name, "error", err)
		return nil
	}
	return body.Bytes()
}
