package jobs

import (
	"net/url"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
)

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
func (j Job) Link() string { return links.JobPath(j.ID) }

// List leads to the timers that it selects.
func (j Job) List() string { return links.List(j.Filter.Search(), "") }

// Handled are how many timers it has been at.
func (j Job) Handled() int { return j.Done + j.Skipped + j.Failed }

// Running reports whether it goes on.
func (j Job) Running() bool { return j.Status == calls.StatusRunning }
