package forecasts

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/types"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Pages are the forecasts.
type Pages struct{ *site.Site }

// Routes are those of the pages.
func (c *Pages) Routes() []site.Route {
	return []site.Route{
		site.Show("forecast", c.showForecast).Live(tuning.LiveHeat),
	}
}

// forecastPage is what falls due in the next days, hour by hour.
type forecastPage struct {
	site.Frame
	Type  string
	Types []types.TypeRow
	Days  []heatDay
	Hours []int
	// Limit is the rate that lateness was reckoned with, and Asked what somebody asks "what if" of.
	Limit, Asked string
	Counted      time.Time
	// Most is the most that falls due in an hour.
	Most    int
	Gist    string
	Problem *calls.Problem
}

// heatDay is one day, and heatCell one hour of it.
type heatDay struct {
	Day   time.Time
	Cells []heatCell
}

type heatCell struct {
	// At is when the hour begins; the zero time for one that has passed.
	At  time.Time
	Due int
	// Level is from 0 to 5, by how much is due.
	Level int
	// Late is by how much its last timer is late.
	Late time.Duration
	Link string
}

// heatDays is how many days a forecast shows, and heatLevels how many shades.
const (
	heatDays   = 7
	heatLevels = 5
)

func (c *Pages) showForecast(v *site.Visit) {
	page := &forecastPage{Frame: c.Frame(v, "forecast.title"), Type: v.R.FormValue("type"), Asked: v.R.FormValue("limit")}
	for hour := range 24 {
		page.Hours = append(page.Hours, hour)
	}
	page.Types = (&types.Pages{Site: c.Site}).TypesPage(v).Rows
	if page.Type == "" && len(page.Types) > 0 {
		page.Type = page.Types[0].BusinessType
	}
	if page.Type != "" {
		page.fill(c, v)
	}
	c.Render(v, calls.StatusOf(page.Problem), "forecast", page)
}

// fill asks for whole hours, up to the end of the last day.
func (p *forecastPage) fill(c *Pages, v *site.Visit) {
	from := p.Now.UTC().Truncate(words.Hour)
	midnight := from.Truncate(words.Day)
	query := url.Values{"business_type": {p.Type}, "step": {"1h"}, "to": {words.ISO(midnight.Add(heatDays * words.Day))}}
	var f calls.Forecast
	if _, p.Problem = c.Call(v, calls.Get(calls.Root+"forecast").With(query), &f); p.Problem != nil {
		return
	}
	p.Counted = f.CountedAt
	if f.CallbacksPerSecond != nil {
		p.Limit = words.Rate(*f.CallbacksPerSecond)
	}
	var asked *float64
	if limit, err := strconv.ParseFloat(p.Asked, 64); err == nil && limit > 0 {
		asked, p.Limit = &limit, words.Rate(limit)
	}
	p.lay(f, midnight)
	p.tellLateness(f, asked)
}

// lay lays the steps of a forecast out by day and hour.
func (p *forecastPage) lay(f calls.Forecast, midnight time.Time) {
	for i := range heatDays {
		p.Days = append(p.Days, heatDay{Day: midnight.Add(time.Duration(i) * words.Day), Cells: make([]heatCell, len(p.Hours))})
	}
	for _, step := range f.Steps {
		p.Most = max(p.Most, step.Due+step.DispatchItems)
	}
	for _, step := range f.Steps {
		at := step.At.UTC().Sub(midnight)
		if at < 0 || at >= heatDays*words.Day {
			continue
		}
		cell := &p.Days[int(at/words.Day)].Cells[int(at%words.Day/words.Hour)]
		*cell = heatCell{
			At: step.At, Due: step.Due + step.DispatchItems,
			Link: links.List(links.TypedAs(p.Type)+" due:"+words.ISO(step.At)+".."+words.ISO(step.At.Add(words.Hour))+" sort:due", ""),
		}
		if cell.Due > 0 {
			cell.Level = 1 + int(math.Round(float64(cell.Due)/float64(p.Most)*(heatLevels-1)))
		}
	}
}

// tellLateness says in a sentence where the limit is too low. Of the next day the shorter steps are
// known, by which much that comes at once is seen.
func (p *forecastPage) tellLateness(f calls.Forecast, asked *float64) {
	if fine := p.Picture.Forecasts[p.Type]; fine != nil {
		f.Steps = finer(fine.Steps, f.Steps)
	}
	if asked != nil {
		reckon(f, *asked)
	}
	latest, late := time.Duration(0), map[time.Time]bool{}
	for _, step := range f.Steps {
		by, _ := time.ParseDuration(step.Lateness) // "" for none
		at := step.At.UTC().Truncate(words.Hour).Sub(p.Days[0].Day)
		if by <= 0 || at < 0 || at >= heatDays*words.Day {
			continue
		}
		cell := &p.Days[int(at/words.Day)].Cells[int(at%words.Day/words.Hour)]
		cell.Late = max(cell.Late, by)
		latest, late[step.At.UTC().Truncate(words.Hour)] = max(latest, by), true
	}
	if p.Gist = p.T("forecast.gist", p.Num(p.Most)); len(late) > 0 {
		p.Gist = p.N("forecast.late", len(late)) + p.T("forecast.most", p.Span(latest))
	}
}

// finer are short steps, and the long ones after them.
func finer(short, long []calls.Step) []calls.Step {
	if len(short) == 0 {
		return slices.Clone(long)
	}
	end := short[len(short)-1].At
	return append(slices.Clone(short), calls.Where(long, func(step calls.Step) bool { return step.At.After(end) })...)
}

// reckon says how late the last timer of each step is with another limit, as the API reckons it: what
// falls due in a step is spread over it evenly.
func reckon(f calls.Forecast, limit float64) {
	waiting, width := float64(f.Overdue), words.Hour
	for i := range f.Steps {
		step := &f.Steps[i]
		if i+1 < len(f.Steps) {
			width = f.Steps[i+1].At.Sub(step.At)
		}
		before, due := waiting, step.Due+step.DispatchItems
		waiting = max(waiting+float64(due)-limit*width.Seconds(), 0)
		step.Lateness = ""
		if due > 0 {
			step.Lateness = time.Duration(max(before, waiting) / limit * float64(time.Second)).Truncate(time.Second).String()
		}
	}
}
