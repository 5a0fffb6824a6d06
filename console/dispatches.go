package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/internal/auth"
)

// dispatchPages are the dispatches, and the page of one.
type dispatchPages struct{ *Site }

// routes are those of the pages.
func (c *dispatchPages) routes() []route {
	return []route{
		{http.MethodGet, "dispatches", signedIn, c.listDispatches},
		{http.MethodGet, "dispatches/{type}/{id}", signedIn, c.showDispatch},
		{http.MethodGet, "dispatches/{type}/{id}/failures", signedIn, c.dispatchFailures},
		{http.MethodPost, "dispatches/{type}/{id}/{action}", changing, c.changeDispatch},
	}
}

// Dispatch is what the API shows of a dispatch.
type Dispatch struct {
	Key
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

// dispatchPath is the path of a dispatch in the API, or beneath a prefix of the console.
func dispatchPath(prefix, businessType, id string) string {
	return prefix + "dispatches/" + url.PathEscape(businessType) + "/" + url.PathEscape(id)
}

// Link is the page of the dispatch.
func (d Dispatch) Link() string { return dispatchPath(Root, d.BusinessType, d.BusinessID) }

// Handled are how many of its items are dealt with.
func (d Dispatch) Handled() int { return d.Done + d.Failed }

// Finished reports whether nothing is sent any more.
func (d Dispatch) Finished() bool {
	return !slices.Contains([]string{"uploading", "scheduled", statusRunning, "paused"}, d.Status)
}

// Rate and Speed are the rate that was asked for and the one that is achieved.
func (d Dispatch) Rate() string { return rate(d.PerSecond) }

// Speed is the rate of the last seconds, or of the whole once it has ended.
func (d Dispatch) Speed() string {
	if d.Finished() {
		return strconv.FormatFloat(d.Achieved.Whole, 'f', 1, 64)
	}
	return strconv.FormatFloat(d.Achieved.Last10Seconds, 'f', 1, 64)
}

// dispatchesPage is a list of dispatches.
type dispatchesPage struct {
	frame
	Dispatches []Dispatch
	// Types are those that one may look at, where no type was named and one must be.
	Types   []typeRow
	Next    string
	Problem *Problem
}

func (c *dispatchPages) listDispatches(v *visit) {
	page := dispatchesPage{frame: c.frame(v, "dispatches.title")}
	query := url.Values{}
	for _, name := range []string{"business_type", "page_token"} {
		if value := v.R.FormValue(name); value != "" {
			query.Set(name, value)
		}
	}
	if !query.Has("business_type") && !v.who.May(auth.Viewer, "") {
		page.Types = (&typePages{c.Site}).typesPage(v).Rows
		c.render(v, http.StatusOK, "dispatches", page)
		return
	}
	var found struct {
		Dispatches    []Dispatch `json:"dispatches"`
		NextPageToken string     `json:"next_page_token"`
	}
	_, page.Problem = c.call(v, call{method: http.MethodGet, path: apiRoot + "dispatches", query: query}, &found)
	page.Dispatches = found.Dispatches
	if found.NextPageToken != "" {
		query.Set("page_token", found.NextPageToken)
		page.Next = Root + "dispatches?" + query.Encode()
	}
	c.render(v, statusOf(page.Problem), "dispatches", page)
}

// dispatchPage is one dispatch.
type dispatchPage struct {
	frame
	Dispatch Dispatch
	// Actions are what may be done with it.
	Actions []string
	Done    string
	Problem *Problem
}

// dispatchActions are those of a dispatch. None is offered that would be refused.
var dispatchActions = []struct {
	name  string
	where func(Dispatch) bool
}{
	{"pause", func(d Dispatch) bool { return d.Status == statusRunning || d.Status == "scheduled" }},
	{"resume", func(d Dispatch) bool { return d.Status == "paused" }},
	{"rate", func(d Dispatch) bool { return !d.Finished() }},
	{"retry", func(d Dispatch) bool { return d.Finished() && d.Failed > 0 }},
	{"cancel", func(d Dispatch) bool { return !d.Finished() && !d.CancelRequested }},
}

// Refresh reports whether it goes on.
func (p dispatchPage) Refresh() bool { return p.Dispatch.Status == statusRunning && p.Problem == nil }

func (c *dispatchPages) showDispatch(v *visit) {
	page, problem := c.dispatchPage(v)
	if problem != nil {
		c.refuseBy(v, problem)
		return
	}
	page.Done = v.done("dispatched.")
	c.render(v, http.StatusOK, "dispatch", page)
}

func (c *dispatchPages) dispatchPage(v *visit) (*dispatchPage, *Problem) {
	page := &dispatchPage{frame: c.frame(v, "dispatch.title")}
	businessType, id := v.R.PathValue("type"), v.R.PathValue("id")
	if _, problem := c.call(v, call{method: http.MethodGet, path: dispatchPath(apiRoot, businessType, id)}, &page.Dispatch); problem != nil {
		return nil, problem
	}
	page.Title = businessType + "/" + id
	if c.Mode == On && v.who.May(auth.Operator, businessType) {
		for _, a := range dispatchActions {
			if a.where(page.Dispatch) {
				page.Actions = append(page.Actions, a.name)
			}
		}
	}
	return page, nil
}

func (c *dispatchPages) changeDispatch(v *visit) {
	businessType, id, action := v.R.PathValue("type"), v.R.PathValue("id"), v.R.PathValue("action")
	path := dispatchPath(apiRoot, businessType, id)
	made := call{method: http.MethodPost, path: path + "/" + action}
	switch action {
	case "pause", "resume":
	case "retry":
		made.path = path + "/retry-failures"
	case "cancel":
		made.method, made.path = http.MethodDelete, path
	case "rate":
		made.method, made.path = http.MethodPatch, path
		made.body = map[string]any{"per_second": numberOrNull(strings.TrimSpace(v.R.PostFormValue("per_second")))}
	default:
		c.absent(v)
		return
	}
	if _, problem := c.call(v, made, nil); problem != nil {
		page, unread := c.dispatchPage(v)
		if unread != nil {
			c.refuseBy(v, problem)
			return
		}
		page.Problem = problem
		c.render(v, problem.Status, "dispatch", page)
		return
	}
	v.redirect(dispatchPath(Root, businessType, id) + "?done=" + action)
}

// dispatchFailures hands on the items that were given up, line by line.
func (c *dispatchPages) dispatchFailures(v *visit) {
	c.handOn(v, dispatchPath(apiRoot, v.R.PathValue("type"), v.R.PathValue("id"))+"/failures", "failures.ndjson")
}
