package dispatches

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/chart"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/types"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Pages are the dispatches, and the page of one.
type Pages struct {
	*site.Site
	speeds speeds
}

// Routes returns the routes of the pages.
func (c *Pages) Routes() []site.Route {
	return []site.Route{
		site.Show("dispatches", c.listDispatches).Live(tuning.LiveTable).Listing(),
		site.Show("dispatches/{type}/{id}", c.showDispatch).Live(tuning.LiveTimer),
		site.Show("dispatches/{type}/{id}/failures", c.dispatchFailures),
		site.Change("dispatches/{type}/{id}/{action}", c.changeDispatch),
	}
}

// Dispatch is what the API shows of a dispatch.
type Dispatch struct {
	calls.Key
	Status          string    `json:"status"`
	CancelRequested bool      `json:"cancel_requested"`
	WaitsFor        string    `json:"waits_for"`
	PerSecond       float64   `json:"per_second"`
	Effective       float64   `json:"effective_per_second"`
	BehindWhy       string    `json:"behind_why"`
	BehindSince     time.Time `json:"behind_since"`
	DueAt           time.Time `json:"due_at"`
	Items           *int      `json:"items"`
	Done            int       `json:"done"`
	Failed          int       `json:"failed"`
	Retrying        int       `json:"retrying"`
	InFlight        int       `json:"in_flight"`
	Achieved        struct {
		Last10Seconds float64 `json:"last_10_seconds"`
		Whole         float64 `json:"whole"`
	} `json:"achieved"`
	EstimatedEnd time.Time `json:"estimated_end"`
	CreatedAt    time.Time `json:"created_at"`
	FinishedAt   time.Time `json:"finished_at"`
	Links        struct {
		WebUI string `json:"web_ui"`
	} `json:"links"`
}

// statusPaused is the status of a paused dispatch.
const statusPaused = "paused"

// Link is the page of the dispatch.
func (d Dispatch) Link() string { return calls.DispatchPath(links.Root, d.BusinessType, d.BusinessID) }

// Handled are how many of its items are dealt with.
func (d Dispatch) Handled() int { return d.Done + d.Failed }

// Finished reports whether nothing is sent any more.
func (d Dispatch) Finished() bool {
	return !slices.Contains([]string{"uploading", "scheduled", calls.StatusRunning, statusPaused}, d.Status)
}

// Open reports whether it may still be changed.
func (d Dispatch) Open() bool { return !d.Finished() && !d.CancelRequested }

// Rate is the rate that was asked for.
func (d Dispatch) Rate() string { return words.Rate(d.PerSecond) }

// Speed is the achieved rate: of the last seconds, or of the whole dispatch once it has ended.
func (d Dispatch) Speed() string {
	if d.Finished() {
		return words.Speed(d.Achieved.Whole)
	}
	return words.Speed(d.Achieved.Last10Seconds)
}

// dispatchesPage is a list of dispatches.
type dispatchesPage struct {
	site.Frame
	Dispatches []Dispatch
	// Types are the types to choose from, if the user must name one and has not.
	Types []types.TypeRow
	// Next leads to the next page, and First to the first one. First is "" on the first page, Next on the last.
	Next, First string
	Problem     *calls.Problem
}

func (c *Pages) listDispatches(v *site.Visit) {
	page := &dispatchesPage{Frame: c.Frame(v, "dispatches.title")}
	query := url.Values{}
	for _, name := range []string{"business_type", "page_token"} {
		if value := v.R.FormValue(name); value != "" {
			query.Set(name, value)
		}
	}
	if !query.Has("business_type") && !v.Who.May(auth.Viewer, "") {
		page.Types = (&types.Pages{Site: c.Site}).TypesPage(v).Rows
		c.Render(v, http.StatusOK, "dispatches", page)
		return
	}
	var found struct {
		Dispatches    []Dispatch `json:"dispatches"`
		NextPageToken string     `json:"next_page_token"`
	}
	_, page.Problem = c.Call(v, calls.Get(calls.Root+"dispatches").With(query), &found)
	page.Dispatches = found.Dispatches
	if query.Has("page_token") {
		query.Del("page_token")
		page.First = strings.TrimSuffix(links.Root+"dispatches?"+query.Encode(), "?")
	}
	if found.NextPageToken != "" {
		query.Set("page_token", found.NextPageToken)
		page.Next = links.Root + "dispatches?" + query.Encode()
	}
	c.Render(v, calls.StatusOf(page.Problem), "dispatches", page)
}

// dispatchPage is one dispatch.
type dispatchPage struct {
	site.Frame
	Dispatch Dispatch
	// Curve is how fast it was; nil while that is not known.
	Curve *chart.Curve
	// Actions are the permitted actions.
	Actions []string
	Done    string
	// Typed is the rate that was typed, where it was refused.
	Typed   string
	Problem *calls.Problem
}

// Barred overrides that of [site.Frame].
func (p *dispatchPage) Barred() string {
	return p.BarredUnless(p.Who.May(auth.Operator, p.Dispatch.BusinessType), "actions.barred")
}

// dispatchActions are the actions on dispatches. The page offers none that would be refused.
var dispatchActions = []struct {
	name  string
	where func(Dispatch) bool
}{
	{"pause", func(d Dispatch) bool { return d.Open() && (d.Status == calls.StatusRunning || d.Status == "scheduled") }},
	{"resume", func(d Dispatch) bool { return d.Open() && d.Status == statusPaused }},
	{"rate", Dispatch.Open},
	{"retry", func(d Dispatch) bool { return d.Finished() && d.Failed > 0 }},
	{"cancel", Dispatch.Open},
}

// Refresh reports whether it goes on.
func (p *dispatchPage) Refresh() bool {
	return p.Dispatch.Status == calls.StatusRunning && p.Problem == nil
}

func (c *Pages) showDispatch(v *site.Visit) {
	page, problem := c.dispatchPage(v)
	if problem != nil {
		c.RefuseBy(v, problem)
		return
	}
	page.Done = v.Done("dispatched.")
	c.Render(v, http.StatusOK, "dispatch", page)
}

func (c *Pages) dispatchPage(v *site.Visit) (*dispatchPage, *calls.Problem) {
	page := &dispatchPage{Frame: c.Frame(v, "dispatch.title")}
	businessType, id := v.R.PathValue("type"), v.R.PathValue("id")
	if _, problem := c.Call(v, calls.Get(calls.DispatchPath(calls.Root, businessType, id)), &page.Dispatch); problem != nil {
		return nil, problem
	}
	page.Title = businessType + "/" + id
	if !page.Old() { // else nothing new is known
		page.Curve = chart.CurveOf(c.speeds.add(page.Dispatch, c.Now()))
	}
	if page.Fixed() == "" && v.Who.May(auth.Operator, businessType) {
		for _, a := range dispatchActions {
			if a.where(page.Dispatch) {
				page.Actions = append(page.Actions, a.name)
			}
		}
	}
	return page, nil
}

func (c *Pages) changeDispatch(v *site.Visit) {
	businessType, id, action := v.R.PathValue("type"), v.R.PathValue("id"), v.R.PathValue("action")
	path := calls.DispatchPath(calls.Root, businessType, id)
	made := calls.Call{Method: http.MethodPost, Path: path + "/" + action}
	switch action {
	case "pause", "resume":
	case "retry":
		made.Path = path + "/retry-failures"
	case "cancel":
		made.Method, made.Path = http.MethodDelete, path
	case "rate":
		made.Method, made.Path = http.MethodPatch, path
		made.Body = map[string]any{"per_second": site.NumberOrNull(v.R.PostFormValue("per_second"))}
	default:
		c.Absent(v)
		return
	}
	answer, problem := c.Call(v, made, nil)
	if problem != nil {
		page, unread := c.dispatchPage(v)
		if unread != nil {
			c.RefuseBy(v, problem)
			return
		}
		page.Problem, page.Typed = problem, v.R.PostFormValue("per_second")
		c.Render(v, problem.Status, "dispatch", page)
		return
	}
	done := action
	if answer.Status == http.StatusAccepted && action != "retry" { // that one never says more
		done = "accepted"
	}
	v.Redirect(calls.DispatchPath(links.Root, businessType, id) + "?done=" + done)
}

// dispatchFailures hands on the items that were given up, line by line.
func (c *Pages) dispatchFailures(v *site.Visit) {
	c.HandOn(v, calls.DispatchPath(calls.Root, v.R.PathValue("type"), v.R.PathValue("id"))+"/failures", "failures.ndjson")
}
