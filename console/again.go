package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
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
func (c *Console) keepForm(v *visit) bool {
	if v.r.ParseForm() != nil {
		return false
	}
	form := unsent{Path: v.r.URL.EscapedPath(), Fields: v.r.PostForm, Ends: c.Now().Add(tuning.FormLife)}
	return c.remember(v, ofForm, form, form.Ends) == nil
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

// fieldsOf are the values of a form, in order of their names.
func fieldsOf(form url.Values) (all []field) {
	for name, values := range form {
		for _, value := range values {
			all = append(all, field{Name: name, Value: value, Hidden: name == "etag"})
		}
	}
	slices.SortStableFunc(all, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// field is one value of a form. A hidden one says nothing to people.
type field struct {
	Name, Value string
	Hidden      bool
}

func (c *Console) showAgain(v *visit) {
	var form unsent
	if err := c.recall(v, ofForm, &form); err != nil || !c.Now().Before(form.Ends) || within(form.Path) != form.Path {
		v.redirect(Root)
		return
	}
	c.render(v, http.StatusOK, "again", againPage{frame: c.frame(v, "again.title"), Form: form, Back: parent(form.Path)})
}
