package jobs

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
)

// order is a bulk job as it is given to the API.
type order struct {
	ID        string `json:"id,omitzero"`
	Operation string `json:"operation"`
	Filter    filter `json:"filter"`
	Shift     string `json:"shift,omitzero"`
	// PerSecond is the rate as it was typed; nil for the API's own.
	PerSecond any  `json:"per_second,omitzero"`
	DryRun    bool `json:"dry_run,omitzero"`
	// Counted is the dry run whose timers are changed.
	Counted string `json:"counted,omitzero"`
	// Edit is what an edit changes.
	Edit map[string]any `json:"edit,omitempty"`
}

// Operations are the operations of bulk jobs.
var Operations = []string{"cancel", "move", "fire", "redeliver", operationEdit}

// startJob counts the timers that a search finds. Nothing is done with them before the
// user has seen how many they are.
func (c *Pages) startJob(v *site.Visit) {
	s := search.Parse(v.R.PostFormValue("q"), c.Now())
	operation := v.R.PostFormValue("operation")
	if len(s.Wrong) > 0 || s.View != "" || !slices.Contains(Operations, operation) {
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	made := order{Operation: operation, Filter: filterOf(s.All()), DryRun: true}
	switch operation {
	case "move":
		made.Shift = strings.TrimSpace(v.R.PostFormValue("shift"))
	case operationEdit:
		made.Edit = editOf(v.R.PostForm)
	}
	made.PerSecond = site.NumberOrNull(v.R.PostFormValue(fieldRate))
	if problem := c.order(v, made); problem != nil {
		c.showRefusedForm(v, s, problem)
	}
}

// order gives an order, and leads to its job. Where it is refused, nothing is answered yet.
func (c *Pages) order(v *site.Visit, made order) *calls.Problem {
	var job Job
	if _, problem := c.Call(v, calls.Post(bulkPath, made), &job); problem != nil {
		return problem
	}
	to := job.Link()
	if edited := editedOf(v.R.PostForm); made.DryRun && made.Edit != nil && len(edited) > 0 {
		to += "?" + edited.Encode()
	}
	v.Redirect(to)
	return nil
}

// goOn ends the id of a job that carries out a count. A form that is sent twice orders the job once.
const goOn = "-go"

// carryOutJob changes the timers that were counted. A timer that matches since then was not shown to the user, and
// is not changed.
func (c *Pages) carryOutJob(v *site.Visit) {
	page, problem := c.jobPage(v)
	switch {
	case problem != nil:
		c.RefuseBy(v, problem)
	case !page.Counted():
		c.Refuse(v, http.StatusConflict, "refused.count")
	case !page.MayChange: // the API says why, and records it
		v.R.PostForm.Del(fieldContent)
		c.showRefusal(v, page, c.order(v, orderOf(page.Job, v.R.PostForm)))
	case page.MustType() && site.NumberOrNull(v.R.PostFormValue(fieldNumber)) != float64(page.Found()):
		page.Wrong = true
		c.Render(v, http.StatusUnprocessableEntity, "job", page)
	case page.AsksContent && !contentOf(v.R.PostForm).IsValid():
		page.NoJSON = true
		c.Render(v, http.StatusUnprocessableEntity, "job", page)
	default:
		c.showRefusal(v, page, c.order(v, orderOf(page.Job, v.R.PostForm)))
	}
}

// showRefusal shows a job with why it was not changed, and with what was typed; nothing where it was.
func (c *Pages) showRefusal(v *site.Visit, page *jobPage, problem *calls.Problem) {
	switch {
	case problem == nil:
	case problem.Status == http.StatusForbidden: // another form would not help
		c.RefuseBy(v, problem)
	default:
		page.Problem = problem
		c.Render(v, problem.Status, "job", page)
	}
}

// orderOf is what a form has done with the timers that a job has counted.
func orderOf(counted Job, form url.Values) order {
	made := order{
		ID: counted.ID + goOn, Counted: counted.ID,
		Operation: counted.Operation, Filter: counted.Filter, Shift: counted.Shift, PerSecond: counted.PerSecond,
	}
	if counted.Operation == operationEdit {
		made.Edit = editOf(form)
	}
	if rate := site.NumberOrNull(form.Get(fieldRate)); rate != nil {
		made.PerSecond = rate
	}
	return made
}

func (c *Pages) stopJob(v *site.Visit) {
	var job Job
	if _, problem := c.Call(v, calls.Call{Method: http.MethodDelete, Path: jobOf(v)}, &job); problem != nil {
		page, unread := c.jobPage(v)
		if unread != nil {
			c.RefuseBy(v, problem)
			return
		}
		c.showRefusal(v, page, problem)
		return
	}
	v.Redirect(cmp.Or(job.Link(), links.Root+"jobs"))
}
