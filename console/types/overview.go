package types

import (
	"net/http"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// overviewPage shows the counts of timers, the plots of all types, and the gravest types.
type overviewPage struct {
	*typesPage
	loadedPlots
	Tiles []tile
	// Base is the address of the API, for the lines of the empty page.
	Base string
}

// Refresh overrides that of [site.Frame].
func (p *overviewPage) Refresh() bool { return p.Frame.Refresh() || p.coming }

// tile is one number, and where it leads.
type tile struct {
	Key, Link string
	N         int
	// Counted reports whether the number is known.
	Counted bool
	// Grave reports whether it should be none.
	Grave bool
}

func (c *Pages) start(v *site.Visit) {
	page := &overviewPage{typesPage: c.TypesPage(v), Base: c.Base(v)}
	page.Title = v.Lang.Say("overview.title")
	page.Tiles = tilesOf(page.Picture, "", v.Who.May(auth.Viewer, ""))
	if len(page.Rows) > 0 && !v.Part { // those of an open page are drawn apart
		page.loadedPlots = c.loadPlots(v, "overview", "", page.Frame)
	}
	page.show(0, tuning.TypesGravest)
	c.Render(v, http.StatusOK, "overview", page)
}

// drawAll renders the plots of the overview.
func (c *Pages) drawAll(v *site.Visit) {
	page := &drawnPage{Frame: c.Frame(v, "overview.title")}
	if len(page.Picture.Types()) > 0 {
		page.Plots = c.plotsOf(v, "", page.Picture)
	}
	c.RenderPlots(v, "overview", page)
}

// tilesOf are how many timers there are, of a business type or of all.
func tilesOf(p *watch.Picture, businessType string, linked bool) (all []tile) {
	for _, status := range []string{
		calls.StatusScheduled, calls.StatusDelivering, calls.StatusPaused, calls.StatusFailed, calls.StatusDelivered, calls.StatusExpired,
	} {
		one := tile{Key: "status." + status, Counted: p.Counts != nil, Grave: status == calls.StatusFailed || status == calls.StatusExpired}
		if counts := p.Counts[businessType]; counts != nil {
			one.N = counts.InStatus(status)
		} else if businessType == "" {
			one.N = p.InStatus(status)
		}
		if linked {
			one.Link = links.List(searchFor(businessType, "status:"+status), "")
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
	return links.TypedAs(businessType) + " " + rest
}

// Calm says for how long nothing has failed, as a key of the catalogues. It is "" after a failure, or if that is not
// known. Only the report knows the occurrences of a whole day; the lists do not.
func (p *overviewPage) Calm() string {
	if len(p.Picture.FailingTypes()) > 0 || p.Picture.Away[watch.PartTimers] {
		return ""
	}
	for _, policy := range p.Picture.Types() {
		if past := p.Picture.Past[policy.BusinessType]; past == nil || past.Recorded == nil || past.Failed() > 0 {
			return "overview.calm"
		}
	}
	return "overview.calm.day"
}
