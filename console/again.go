package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/tuning"
)

// unsent is a form that was sent when the session was over. Nothing was done with it.
type unsent struct {
	Path   string     `json:"path"`
	Fields url.Values `json:"fields"`
	Ends   time.Time  `json:"ends"`
}

// keepForm has the browser keep the form of a visit, and reports whether it does.
func (c *signInPages) keepForm(v *site.Visit) bool {
	if v.R.ParseForm() != nil {
		return false
	}
	form := unsent{Path: v.R.URL.EscapedPath(), Fields: v.R.PostForm, Ends: c.Now().Add(tuning.FormLife)}
	return c.Sessions.Remember(v.Exchange, sessions.OfForm, form, form.Ends) == nil
}

// againPage shows a form that was not sent, to be sent now.
type againPage struct {
	site.Frame
	Form unsent
	// Back is the page that the form stands on.
	Back string
}

// Fields are what is sent, in order.
func (p againPage) Fields() []site.Field { return site.FieldsOf(p.Form.Fields) }

func (c *signInPages) showAgain(v *site.Visit) {
	var form unsent
	err := c.Sessions.Recall(v.Exchange, sessions.OfForm, &form)
	if err != nil || !c.Now().Before(form.Ends) || links.Within(form.Path) != form.Path {
		v.Redirect(links.Root)
		return
	}
	c.Render(v, http.StatusOK, "again", againPage{Frame: c.Frame(v, "again.title"), Form: form, Back: links.Parent(form.Path)})
}
