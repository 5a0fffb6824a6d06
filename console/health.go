package console

import (
	"net/http"
	"time"
)

// healthPage is what of the installation answers, and when it did last.
type healthPage struct {
	frame
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

func (c *operationPages) showHealth(v *visit) {
	page := healthPage{frame: c.frame(v, "health.title")}
	p := page.picture
	lists := !p.Away[partPolicies] && !p.Away[partCounts] && !p.Away[partTimers]
	page.Rows = []healthRow{
		{"temporal", !p.Away[partPaused], p.Temporal},
		{"workers", !p.Away[partWorkers], p.Workers},
		{"lists", lists, p.Listed},
	}
	var index struct {
		Version string `json:"version"`
	}
	c.call(v, call{method: http.MethodGet, path: "/v1"}, &index) // a page without it is better than none
	var ready struct {
		Note string `json:"note"`
	}
	c.call(v, call{method: http.MethodGet, path: "/readyz"}, &ready)
	page.Version, page.Note = index.Version, ready.Note
	c.render(v, http.StatusOK, "health", page)
}
