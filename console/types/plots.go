package types

import (
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/chart"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/tuning"
)

// choice is a range that may be chosen.
type choice struct {
	Key, Link string
	Here      bool
}

// plots are the past and the time ahead of a business type, or of all types.
type plots struct {
	*chart.Plots
	Ranges []choice
}

// drawnPage is the plots of an open page, which are drawn apart from it.
type drawnPage struct {
	site.Frame
	Plots *plots
}

// Refresh overrides that of [site.Frame].
func (p *drawnPage) Refresh() bool { return p.Frame.Refresh() || p.Plots != nil && p.Plots.Coming }

// loadedPlots are the plots of a page that is loaded.
type loadedPlots struct {
	Drawn template.HTML
	// coming reports whether something of them is on its way.
	coming bool
}

// loadPlots draws the plots of a page of a name.
func (c *Pages) loadPlots(v *site.Visit, name, businessType string, frame site.Frame) (loaded loadedPlots) {
	loaded.Drawn = c.Drawn(v, name, func() (any, bool) {
		p := c.plotsOf(v, businessType, frame.Picture)
		loaded.coming = p.Coming
		return &drawnPage{Frame: frame, Plots: p}, !p.Unread && !p.AheadUnread
	})
	return loaded
}

// drawType renders the plots of one type.
func (c *Pages) drawType(v *site.Visit) {
	page := &drawnPage{Frame: c.Frame(v, "type.title")}
	page.Plots = c.plotsOf(v, v.R.PathValue("type"), page.Picture)
	c.RenderPlots(v, "type", page)
}

// plotsOf draws the range that the address of a page names. What cannot be read stays as it was known
// last, or is left out, and said.
func (c *Pages) plotsOf(v *site.Visit, businessType string, known *watch.Picture) *plots {
	listed := lookedAt(known)
	r, page, searched := chart.RangeNamed(v.R.FormValue("range"), c.Now()), links.Root, ""
	if businessType != "" {
		page, searched, listed = links.TypePath(businessType), links.TypedAs(businessType), []string{businessType}
	} else if r.Ahead > words.Day { // too much to count for all of them
		r = chart.Ranges()[0]
	}
	p := &plots{Plots: chart.New(r, c.Now(), searched)}
	if p.Recurs = len(known.Recurring) > 0; businessType != "" {
		p.Failures, p.Recurs = page, known.Recurring[businessType] != nil
	}
	for _, other := range chart.Ranges() {
		link := page + "?" + rangeOf(v, other) + "#plots"
		if businessType == "" && other.Back == 0 {
			link = links.Root + "forecast"
		}
		p.Ranges = append(p.Ranges, choice{Key: "range." + other.Key, Link: link, Here: other.Key == r.Key})
	}
	if r.Back > 0 {
		p.past(c, v, businessType)
	}
	if r.Ahead > 0 {
		p.ahead(c, v, listed, known)
	}
	p.Coming = (p.Unread || p.AheadUnread) && !known.ListsAway()
	p.Scale(len(listed))
	return p
}

// rangeOf is the query of a page with another range. The time whose failures it shows stays.
func rangeOf(v *site.Visit, r chart.Range) string {
	query := url.Values{"range": {r.Key}}
	if at := v.R.FormValue("at"); at != "" {
		query.Set("at", at)
	}
	return query.Encode()
}

// lookedAt are the business types whose time ahead the overview shows. The first look does not know yet
// which can be read.
func lookedAt(known *watch.Picture) (types []string) {
	if !known.AheadAt.IsZero() {
		return slices.Sorted(maps.Keys(known.Forecasts))
	}
	for _, policy := range known.Foreseen() {
		types = append(types, policy.BusinessType)
	}
	return types
}

func (p *plots) ahead(c *Pages, v *site.Visit, listed []string, known *watch.Picture) {
	away := false
	for _, one := range listed {
		query := url.Values{"business_type": {one}, "from": {words.ISO(p.firstAhead())}, "to": {words.ISO(p.To)}, "step": {p.Range.Step.String()}}
		var f calls.Forecast
		var problem *calls.Problem
		if !away {
			_, problem = c.Call(v, calls.Get(calls.Root+"forecast").With(query).Within(tuning.LivePlots).Briefly(), &f)
			away = calls.StatusOf(problem) >= http.StatusInternalServerError // the others would keep the page waiting
		}
		if !away && problem == nil {
			p.AddAhead(&f)
		} else if known.Forecasts[one] != nil {
			p.AddAhead(known.Forecasts[one])
		} else {
			p.AheadUnread = true
		}
	}
}

// firstAhead is when the first column of what is to come begins.
func (p *plots) firstAhead() time.Time {
	if p.From.After(p.Now) {
		return p.From
	}
	return p.Now
}

func (p *plots) past(c *Pages, v *site.Visit, businessType string) {
	query := url.Values{"from": {words.ISO(p.From)}, "step": {p.Range.Step.String()}}
	if p.To.Before(p.Now) {
		query.Set("to", words.ISO(p.To))
	}
	if businessType != "" {
		query.Set("business_type", businessType)
	}
	var past calls.Outcomes
	if _, problem := c.Call(v, calls.Get(calls.Root+"outcomes").With(query).Within(tuning.LivePlots).Briefly(), &past); problem != nil {
		p.Unread = true
		return
	}
	p.AddPast(&past, c.Now())
}
