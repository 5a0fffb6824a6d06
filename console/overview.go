package console

import (
	"maps"
	"net/http"
	"slices"

	"github.com/wakecall/wakecall/internal/auth"
)

// overviewPage is what is due, what went wrong, and in what state the types are.
type overviewPage struct {
	*typesPage
	Tiles []tile
	Chart *chart
	// Base is the address of the API, for the lines of the empty page.
	Base string
}

// tile is one number, and where it leads.
type tile struct {
	Key, Link string
	N         int
	// Grave reports whether it should be none.
	Grave bool
}

func (c *typePages) start(v *visit) {
	page := overviewPage{typesPage: c.typesPage(v), Base: c.base(v)}
	page.Title = v.lang.say("overview.title")
	page.Tiles = tilesOf(page.picture, "", v.who.May(auth.Viewer, ""))
	var all []*Forecast
	for _, businessType := range slices.Sorted(maps.Keys(page.picture.Forecasts)) {
		all = append(all, page.picture.Forecasts[businessType])
	}
	page.Chart = chartOf(all, "")
	c.render(v, http.StatusOK, "overview", page)
}

// tilesOf are how many timers there are, of a business type or of all.
func tilesOf(p *picture, businessType string, linked bool) (all []tile) {
	for _, status := range []string{statusScheduled, statusDelivering, statusPaused, statusFailed, statusDelivered, statusExpired} {
		one := tile{Key: "status." + status, Grave: status == statusFailed || status == statusExpired}
		for of, counts := range p.Counts {
			if businessType == "" || of == businessType {
				one.N += counts.of(status)
			}
		}
		if linked {
			one.Link = list(searchFor(businessType, "status:"+status), "")
		}
		all = append(all, one)
	}
	return all
}

// searchFor is a search within a business type; within all for "".
func searchFor(businessType, rest string) string {
	if businessType == "" {
		return rest
	}
	return typedAs(businessType) + " " + rest
}

// Calm reports whether nothing has failed just now.
func (p overviewPage) Calm() bool { return len(p.picture.Failed) == 0 && !p.picture.Away[partTimers] }
