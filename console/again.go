package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// unsent is a form that was sent when the session was over. Nothing was done with it.
type unsent struct {
	Path   string     `json:"path"`
	Fields url.Values `json:"fields"`
	Ends   time.Time  `json:"ends"`
}

// keepForm has the browser keep the form of a visit, and reports whether it does.
func (c *signInPages) keepForm(v *visit) bool {
	if v.R.ParseForm() != nil {
		return false
	}
	form := unsent{Path: v.R.URL.EscapedPath(), Fields: v.R.PostForm, Ends: c.Now().Add(tuning.FormLife)}
	return c.Sessions.remember(v.Exchange, ofForm, form, form.Ends) == nil
}

// againPage shows a form that was not sent, to be sent now.
type againPage struct {
	frame
	Form unsent
	// Back is the page that the form stands on.
	Back string
}

// Fields are what is sent, in order.
func (p againPage) Fields() []field { return fieldsOf(p.Form.Fields) }

func (c *signInPages) showAgain(v *visit) {
	var form unsent
	if err := c.Sessions.recall(v.Exchange, ofForm, &form); err != nil || !c.Now().Before(form.Ends) || within(form.Path) != form.Path {
		v.redirect(Root)
		return
	}
	c.render(v, http.StatusOK, "again", againPage{frame: c.frame(v, "again.title"), Form: form, Back: parent(form.Path)})
}
