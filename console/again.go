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
	// Owner is the owner of the session that was over. The form is shown to no other user.
	Owner  string     `json:"owner"`
	Path   string     `json:"path"`
	Fields url.Values `json:"fields"`
	Ends   time.Time  `json:"ends"`
}

// The reasons why a form is not kept, as the address of the sign-in names them.
const (
	formTooLong   = "lost"
	formOfUnknown = "unknown"
)

// keepForm has the browser keep the form of a visit. It returns why it does not; "" if it does.
func (c *signInPages) keepForm(v *site.Visit) (lost string) {
	owner := c.Sessions.Owner(v.Exchange)
	if owner == "" { // it may be of any user, and any user may sign in next
		return formOfUnknown
	}
	if v.R.ParseForm() != nil {
		return formTooLong
	}
	form := unsent{Owner: owner, Path: v.R.URL.EscapedPath(), Fields: v.R.PostForm, Ends: c.Now().Add(tuning.FormLife)}
	if c.Sessions.Remember(v.Exchange, sessions.OfForm, form, form.Ends) != nil {
		return formTooLong
	}
	return ""
}

// againPage shows a form that was not sent, to be sent now.
type againPage struct {
	site.Frame
	Form unsent
	// Back is the page that the form stands on.
	Back string
}

// Fields are the values to be sent, in order.
func (p *againPage) Fields() []site.Field { return site.FieldsOf(p.Form.Fields) }

func (c *signInPages) showAgain(v *site.Visit) {
	var form unsent
	err := c.Sessions.Recall(v.Exchange, sessions.OfForm, &form)
	if err != nil || !c.Now().Before(form.Ends) || links.Within(form.Path) != form.Path || form.Owner != c.Sessions.Owner(v.Exchange) {
		c.Sessions.Forget(v.Exchange, sessions.OfForm)
		v.Redirect(links.Root)
		return
	}
	c.Render(v, http.StatusOK, "again", &againPage{Frame: c.Frame(v, "again.title"), Form: form, Back: links.Parent(form.Path)})
}
