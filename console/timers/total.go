package timers

import (
	"net/url"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/tuning"
)

// total is how many timers a search finds.
type total struct {
	N int
	// More reports whether N is only the least.
	More bool
	// At is when they were counted; the zero time for now.
	At time.Time
}

// countable are the parameters of a search that the API counts by.
var countable = map[string]bool{"business_type": true, "status": true, "sort": true}

// totalOf is how many timers a search finds; nil for none. A page that is all there is tells it by itself. Of
// several pages a count tells it, unless it is behind what the page shows.
func (c *Pages) totalOf(v *site.Visit, p *timersPage, s search.Search) *total {
	least := len(p.Timers)
	switch {
	case least == 0:
		return nil
	case p.First == "" && p.Next == "":
		return &total{N: least}
	case p.First != "": // the page before was full
		least += site.PageSize
	}
	counted := c.counted(v, s, p)
	if counted == nil || counted.N < least || counted.N == least && p.Next != "" {
		return &total{N: least, More: true}
	}
	return counted
}

// counted is how many timers the API has counted for a search; nil where it counts none such.
func (c *Pages) counted(v *site.Visit, s search.Search, p *timersPage) *total {
	for name := range s.Query {
		if !countable[name] {
			return nil
		}
	}
	businessType, status := s.Query.Get("business_type"), s.Query.Get("status")
	switch {
	case s.Word != "" || s.View != "":
		return nil
	case businessType != "":
		return c.countedOf(v, businessType, status)
	case p.Picture.CountedAt.IsZero():
		return nil
	}
	return &total{N: p.Picture.InStatus(status), At: p.Picture.CountedAt}
}

// countedOf is how many timers a type has in a status; nil where that cannot be told.
func (c *Pages) countedOf(v *site.Visit, businessType, status string) *total {
	var stats calls.Stats
	asked := calls.Get(calls.Root + "stats").With(url.Values{"business_type": {businessType}}).Within(tuning.LiveTable).Briefly()
	if _, problem := c.Call(v, asked, &stats); problem != nil {
		return nil
	}
	return &total{N: stats.Timers.InStatus(status)}
}
