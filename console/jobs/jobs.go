package jobs

import (
	"net/url"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Pages are the bulk jobs, and the page of one.
type Pages struct{ *site.Site }

// Routes returns the routes of the pages.
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

const bulkPath = calls.Root + "bulk"

// jobsPage is a list of bulk jobs.
type jobsPage struct {
	site.Frame
	Jobs []Job
	// Next leads to the next page, and First to the first one; "" where this is it.
	Next, First string
	// Problem is why there is no list, or why the form was refused; Form is nil where none was.
	Problem *calls.Problem
	Form    *Form
}

// Timers leads to those that the form selects.
func (p *jobsPage) Timers() string { return links.List(p.Form.Search, "") }

func (c *Pages) listJobs(v *site.Visit) {
	page := c.jobsPage(v)
	c.Render(v, calls.StatusOf(page.Problem), "jobs", page)
}

func (c *Pages) jobsPage(v *site.Visit) *jobsPage {
	page := &jobsPage{Frame: c.Frame(v, "jobs.title")}
	query := url.Values{}
	if token := v.R.FormValue("page_token"); token != "" {
		query.Set("page_token", token)
		page.First = links.Root + "jobs"
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

func jobOf(v *site.Visit) string { return bulkPath + "/" + url.PathEscape(v.R.PathValue("id")) }
