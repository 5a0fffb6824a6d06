package jobs

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/auth"
)

// jobPage is one bulk job. One that has only counted can be carried out.
type jobPage struct {
	site.Frame
	Job Job
	// Examples are some timers that a count has found.
	Examples []example
	// MayChange reports whether who looks may stop it, or carry it out.
	MayChange bool
	// Edited is what an edit changes. Its page has it in its address, since a job does not show it.
	Edited []site.Field
	// Content is the payload that was typed, if AsksContent reports that the edit has one.
	Content     string
	AsksContent bool
	// Wrong reports whether another number was typed than was counted, and NoJSON whether the payload is
	// none. Problem is why it was not carried out, or not stopped.
	Wrong, NoJSON bool
	Problem       *calls.Problem
	// Typed is what stood in the form.
	Typed url.Values
	// Form asks once more what a counted edit changes, if the page was not told; nil else.
	Form *Form
}

// Entry is what stands in a field of the form: what was typed there, if it was refused, else what the job has.
func (p *jobPage) Entry(name string) string {
	if p.Typed.Has(name) || name != fieldRate {
		return p.Typed.Get(name)
	}
	return strconv.FormatFloat(p.Job.PerSecond, 'f', -1, 64)
}

// examples is how many timers a count shows, and typedAbove how many there may be before their
// number must be typed.
const (
	examples   = 10
	typedAbove = 100
)

// example is a timer that a count has found.
type example struct {
	calls.Key
	DueAt time.Time `json:"due_at"`
}

// Counted reports whether a count has ended and found something to do.
func (p *jobPage) Counted() bool { return p.Job.DryRun && p.Job.Status == "done" && p.Found() > 0 }

// Ready reports whether who looks may have that done.
func (p *jobPage) Ready() bool { return p.Counted() && p.MayChange && p.Form == nil }

// Barred overrides that of [site.Frame].
func (p *jobPage) Barred() string {
	return p.BarredUnless(p.Who.May(auth.Operator, p.Job.Filter.BusinessType), "actions.barred")
}

// Found is how many timers it has found; 0 while that is not known.
func (p *jobPage) Found() int {
	if p.Job.Found == nil {
		return 0
	}
	return *p.Job.Found
}

// MustType reports whether the number must be typed before they are changed.
func (p *jobPage) MustType() bool { return p.Found() > typedAbove }

// Refresh reports whether the page is to be shown anew by itself.
func (p *jobPage) Refresh() bool { return p.Job.Running() }

func (c *Pages) showJob(v *site.Visit) {
	page, problem := c.jobPage(v)
	if problem != nil {
		c.RefuseBy(v, problem)
		return
	}
	c.Render(v, http.StatusOK, "job", page)
}

func (c *Pages) jobPage(v *site.Visit) (*jobPage, *calls.Problem) {
	if err := v.R.ParseForm(); err != nil {
		return nil, &calls.Problem{Status: http.StatusBadRequest, Title: v.Lang.Say("refused.form")}
	}
	page := &jobPage{Frame: c.Frame(v, "job.title"), Typed: v.R.PostForm}
	if _, problem := c.Call(v, calls.Get(jobOf(v)), &page.Job); problem != nil {
		return nil, problem
	}
	if page.Job.DryRun && page.Job.Operation == operationEdit {
		edited := editedOf(v.R.Form)
		page.AsksContent, page.Content = edited.Has(fieldPayload), v.R.Form.Get(fieldContent)
		page.Edited = site.FieldsOf(edited)
	}
	page.MayChange = page.Fixed() == "" && v.Who.May(auth.Operator, page.Job.Filter.BusinessType)
	if edits := page.Job.Operation == operationEdit; edits && page.Ready() && len(page.Edited) == 0 {
		page.Form = c.formAgain(page.Job)
	}
	if page.Ready() {
		page.Examples = c.examplesOf(v)
	}
	return page, nil
}

// examplesOf are the first timers that a count has found.
func (c *Pages) examplesOf(v *site.Visit) (all []example) {
	answer, problem := c.Call(v, calls.Get(jobOf(v)+"/results").With(url.Values{"count": {strconv.Itoa(examples)}}), nil)
	if problem != nil { // the count is what matters
		return nil
	}
	for lines := json.NewDecoder(bytes.NewReader(answer.Body.Bytes())); ; {
		var line example
		if lines.Decode(&line) != nil {
			return all
		}
		all = append(all, line)
	}
}

// jobResults hands on what became of each timer, line by line.
func (c *Pages) jobResults(v *site.Visit) { c.HandOn(v, jobOf(v)+"/results", "results.ndjson") }
