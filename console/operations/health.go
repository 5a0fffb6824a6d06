package operations

import (
	"net/http"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
)

// healthPage is what of the installation answers, and when it did last.
type healthPage struct {
	site.Frame
	Rows []healthRow
	// Version is that of the program, and Note what the gateway says of itself.
	Version, Note string
}

// healthRow is one part of the installation.
type healthRow struct {
	Name string
	OK   bool
	// Last is when it answered last; the zero time where that is not known.
	Last time.Time
}

func (c *Pages) showHealth(v *site.Visit) {
	page := healthPage{Frame: c.Frame(v, "health.title")}
	p := page.Picture
	lists := !p.Away[watch.PartPolicies] && !p.Away[watch.PartCounts] && !p.Away[watch.PartTimers]
	page.Rows = []healthRow{
		{"temporal", !p.Away[watch.PartPaused], p.Temporal},
		{"workers", !p.Away[watch.PartWorkers], p.Workers},
		{"lists", lists, p.Listed},
	}
	var index struct {
		Version string `json:"version"`
	}
	c.Call(v, calls.Get("/v1"), &index) // a page without it is better than none
	var ready struct {
		Note string `json:"note"`
	}
	c.Call(v, calls.Get("/readyz"), &ready)
	page.Version, page.Note = index.Version, ready.Note
	c.Render(v, http.StatusOK, "health", page)
}
