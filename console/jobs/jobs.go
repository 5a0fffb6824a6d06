package jobs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Pages are the bulk jobs, and the page of one.
type Pages struct{ *site.Site }

// Routes are those of the pages.
func (c *Pages) Routes() []site.Route {
	return []site.Route{
		site.Show("jobs", c.listJobs).Live(tuning.LiveTable).Listing(),
		site.Change("jobs", c.startJob),
		site.Show("jobs/{id}", c.showJob).Live(tuning.LiveTimer).Listing(),
		site.Show("jobs/{id}/results", c.jobResults),
		site.Change("jobs/{id}/go", c.carryOutJob),
		site.Change("jobs/{id}/stop", c.stopJob),
	}
}

// Job is what the API shows of a bulk job.
type Job struct {
	ID              string    `json:"id"`
	Operation       string    `json:"operation"`
	Status          string    `json:"status"`
	CancelRequested bool      `json:"cancel_requested"`
	WaitsFor        string    `json:"waits_for"`
	Found           *int      `json:"found"`
	Done            int       `json:"done"`
	Skipped         int       `json:"skipped"`
	Failed          int       `json:"failed"`
	Filter          filter    `json:"filter"`
	Shift           string    `json:"shift"`
	PerSecond       float64   `json:"per_second"`
	DryRun          bool      `json:"dry_run"`
	StartedAt       time.Time `json:"started_at"`
	FinishedAt      time.Time `json:"finished_at"`
}

// filter is what a job selects timers by.
type filter struct {
	BusinessType string            `json:"business_type,omitzero"`
	BusinessID   string            `json:"business_id,omitzero"`
	Status       string            `json:"status,omitzero"`
	Labels       map[string]string `json:"labels,omitempty"`
	Recurring    bool              `json:"recurring,omitzero"`
	DueFrom      string            `json:"due_from,omitzero"`
	DueTo        string            `json:"due_to,omitzero"`
	EndedFrom    string            `json:"ended_from,omitzero"`
	EndedTo      string            `json:"ended_to,omitzero"`
}

// filterOf is a search as a job takes it.
func filterOf(query url.Values) filter {
	f := filter{
		BusinessType: query.Get("business_type"), BusinessID: query.Get("business_id"), Status: query.Get("status"),
		Recurring: query.Has("recurring"),
		DueFrom:   query.Get("due_from"), DueTo: query.Get("due_to"), EndedFrom: query.Get("ended_from"), EndedTo: query.Get("ended_to"),
	}
	for _, label := range query["label"] {
		if f.Labels == nil {
			f.Labels = map[string]string{}
		}
		name, value, _ := strings.Cut(label, "=")
		f.Labels[name] = value
	}
	return f
}

// Search is a filter as the search box takes it.
func (f filter) Search() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+value)
		}
	}
	if f.BusinessID != "" {
		add("", search.Exactly(f.BusinessID))
	}
	add("type:", f.BusinessType)
	add("status:", f.Status)
	for _, label := range strings.Fields(calls.LabelsOf(f.Labels)) {
		add("label:", label)
	}
	if f.Recurring {
		add("is:", "recurring")
	}
	if f.DueFrom != "" || f.DueTo != "" {
		add("due:", f.DueFrom+".."+f.DueTo)
	}
	if f.EndedFrom != "" || f.EndedTo != "" {
		add("ended:", f.EndedFrom+".."+f.EndedTo)
	}
	return strings.Join(parts, " ")
}

// Link leads to the page of the job.
func (j Job) Link() string { return jobPath(j.ID) }

// List leads to the timers that it selects.
func (j Job) List() string { return links.List(j.Filter.Search(), "") }

// Handled are how many timers it has been at.
func (j Job) Handled() int { return j.Done + j.Skipped + j.Failed }

// Running reports whether it goes on.
func (j Job) Running() bool { return j.Status == calls.StatusRunning }

func jobPath(id string) string { return links.Root + "jobs/" + url.PathEscape(id) }

const bulkPath = calls.Root + "bulk"

// jobsPage is a list of bulk jobs.
type jobsPage struct {
	site.Frame
	Jobs []Job
	Next string
	// Problem is why there is no list, or why the form was refused; Form is nil where none was.
	Problem *calls.Problem
	Form    *Form
}

// Timers leads to those that the form selects.
func (p jobsPage) Timers() string { return links.List(p.Form.Search, "") }

func (c *Pages) listJobs(v *site.Visit) {
	page := c.jobsPage(v)
	c.Render(v, calls.StatusOf(page.Problem), "jobs", page)
}

func (c *Pages) jobsPage(v *site.Visit) jobsPage {
	page := jobsPage{Frame: c.Frame(v, "jobs.title")}
	query := url.Values{}
	if token := v.R.FormValue("page_token"); token != "" {
		query.Set("page_token", token)
	}
	var found struct {
		Jobs          []Job  `json:"jobs"`
		NextPageToken string `json:"next_page_token"`
	}
	_, page.Problem = c.Call(v, calls.Get(bulkPath).With(query), &found)
	page.Jobs = found.Jobs
	if found.NextPageToken != "" {
		page.Next = links.Root + "jobs?" + url.Values{"page_token": {found.NextPageToken}}.Encode()
	}
	return page
}

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
}

// Entry is what stands in a field of the form: what was typed there, if it was refused, else what the job has.
func (p jobPage) Entry(name string) string {
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
func (p jobPage) Counted() bool { return p.Job.DryRun && p.Job.Status == "done" && p.Found() > 0 }

// Ready reports whether who looks may have that done.
func (p jobPage) Ready() bool { return p.Counted() && p.MayChange }

// Barred implements that of [site.Frame].
func (p jobPage) Barred() string {
	return p.BarredUnless(p.Who.May(auth.Operator, p.Job.Filter.BusinessType), "actions.barred")
}

// Found is how many timers it has found; 0 while that is not known.
func (p jobPage) Found() int {
	if p.Job.Found == nil {
		return 0
	}
	return *p.Job.Found
}

// MustType reports whether the number must be typed before they are changed.
func (p jobPage) MustType() bool { return p.Found() > typedAbove }

// Refresh reports whether the page is to be shown anew by itself.
func (p jobPage) Refresh() bool { return p.Job.Running() }

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

func jobOf(v *site.Visit) string { return bulkPath + "/" + url.PathEscape(v.R.PathValue("id")) }

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

// Operations are what may be done with all timers that match.
var Operations = []string{"cancel", "move", "fire", "redeliver", operationEdit}

// startJob counts the timers that a search finds. Nothing is done with them before somebody has
// seen how many they are.
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
		c.tellRefusal(v, s, problem)
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

// goOn is what the id of a job ends with that carries out what another one has counted. A form
// that is sent twice orders it once.
const goOn = "-go"

// carryOutJob changes the timers that were counted, and no other: a timer that matches since then was not
// seen.
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

// jobResults hands on what became of each timer, line by line.
func (c *Pages) jobResults(v *site.Visit) { c.HandOn(v, jobOf(v)+"/results", "results.ndjson") }
