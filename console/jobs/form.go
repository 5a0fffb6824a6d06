package jobs

import (
	"net/http"
	"net/url"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
)

// Form asks what is to be done with all timers that match a search.
type Form struct {
	Search string
	// Operations are the operations that fit the search.
	Operations []string
	// Typed is what stood in the form where it was refused.
	Typed url.Values
}

// FormOf is the form for a search, as it is typed.
func FormOf(s search.Search, typed string) *Form {
	status := s.Query.Get("status")
	return &Form{Search: typed, Operations: calls.Where(Operations, func(name string) bool {
		return status == "" || (name == "redeliver") == (status == calls.StatusFailed) && !endedUnchanged(status)
	})}
}

// formAgain is the form of a job that has counted what it would edit.
func (c *Pages) formAgain(counted Job) *Form {
	typed := counted.Filter.Search()
	form := FormOf(search.Parse(typed, c.Now()), typed)
	form.Typed = url.Values{"operation": {operationEdit}}
	return form
}

// endedUnchanged reports whether nothing can be done with timers of a status.
func endedUnchanged(status string) bool {
	return status != calls.StatusFailed && calls.Timer{Status: status}.Finished()
}

// showRefusedForm shows the form as it was typed, with why nothing was counted.
func (c *Pages) showRefusedForm(v *site.Visit, s search.Search, problem *calls.Problem) {
	if problem.Status == http.StatusForbidden { // another form would not help
		c.RefuseBy(v, problem)
		return
	}
	page := c.jobsPage(v)
	page.Problem, page.Form = problem, FormOf(s, v.R.PostFormValue("q"))
	page.Form.Typed = v.R.PostForm
	c.Render(v, problem.Status, "jobs", page)
}
