package operations

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
)

// healthPage is what of the installation answers, and when it did last.
type healthPage struct {
	site.Frame
	Rows []healthRow
	// Checks are the checks of the gateway that answers, gravest first.
	Checks []check
	// Version is the version of the program, and Note the note of the gateway's readiness.
	Version, Note string
	// Known are the processes of the installation, Unknown is why they cannot be read, and Hidden
	// whether they are for others to see.
	Known   calls.Processes
	Unknown *calls.Problem
	Hidden  bool
}

// healthRow is one part of the installation.
type healthRow struct {
	Name string
	// State says whether it answers, as the end of a key.
	State string
	// Last is when it answered last; the zero time where that is not known.
	Last time.Time
	// Took is how long the last answers took, the longest of them.
	Took time.Duration
}

// check is what this gateway has found of the installation.
type check struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	// Detail says what is wrong, and what to change.
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
}

// OK reports whether all is well.
func (c check) OK() bool { return c.Status == "ok" }

func (c *Pages) showHealth(v *site.Visit) {
	page := &healthPage{Frame: c.Frame(v, "health.title")}
	p := page.Picture
	slowest := max(p.Took[watch.PartPaused], p.Took[watch.PartPolicies], p.Took[watch.PartCounts], p.Took[watch.PartTimers])
	page.Rows = []healthRow{
		{"temporal", stateOf(p, p.EngineAway()), p.Temporal, p.Took[watch.PartEngine]},
		{"workers", stateOf(p, p.Away[watch.PartWorkers]), p.Workers, p.Took[watch.PartWorkers]},
		{"lists", stateOf(p, p.ListsAway()), p.Listed, slowest},
	}
	var index struct {
		Version string `json:"version"`
	}
	c.Call(v, calls.Get("/v1"), &index) // a page without it is better than none
	page.Version = index.Version
	page.Note, page.Checks = c.checks(v)
	_, page.Unknown = c.Call(v, calls.Get(calls.Root+"processes"), &page.Known)
	if calls.StatusOf(page.Unknown) == http.StatusForbidden {
		page.Unknown, page.Hidden = nil, true
	}
	c.Render(v, http.StatusOK, "health", page)
}

// stateOf says whether a part answers, as far as the gateway has looked.
func stateOf(p *watch.Picture, away bool) string {
	switch {
	case p.Unseen():
		return "unseen"
	case away:
		return "away"
	default:
		return "ok"
	}
}

// checks are the checks of the gateway that answers, with their details. It answers with them
// whether it is ready or not.
func (c *Pages) checks(v *site.Visit) (note string, all []check) {
	var ready struct {
		Note   string  `json:"note"`
		Checks []check `json:"checks"`
	}
	asked := calls.Get("/readyz").With(url.Values{"verbose": {""}})
	asked.Fresh = true
	answer, _ := c.Call(v, asked, nil)
	if answer == nil || json.Unmarshal(answer.Body.Bytes(), &ready) != nil {
		return "", nil
	}
	slices.SortStableFunc(ready.Checks, func(a, b check) int {
		return cmp.Compare(slices.Index(gravity, a.Status), slices.Index(gravity, b.Status))
	})
	return ready.Note, ready.Checks
}

// gravity are the results of a check, gravest first.
var gravity = []string{"failing", "unknown", "ok"}
