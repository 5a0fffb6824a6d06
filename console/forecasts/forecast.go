package forecasts

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
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

// Routes returns the routes of the pages.
func (c *Pages) Routes() []site.Route {
	return []site.Route{
		site.Show("forecast", c.showForecast).Live(tuning.LiveHeat).Listing(),
	}
}

// forecastPage is what falls due in the next days, hour by hour.
type forecastPage struct {
	site.Frame
	Type  string
	Types []types.TypeRow
	// Unread reports whether the types cannot be read now.
	Unread bool
	Days   []heatDay
	Hours  []int
	// Hour is the present one.
	Hour int
	whatIf
	counted
	// Steps are what the page itself reckons with, and Overdue what waits before the first of them.
	Steps   string
	Overdue int
	// Most is the most that falls due in an hour.
	Most    int
	Gist    string
	Problem *calls.Problem
}

// counted is when the days were counted, and what was not.
type counted struct {
	Counted time.Time
	// UncountedFrom is that of [calls.Forecast].
	UncountedFrom time.Time
	// Coming reports whether the days after the first are still being counted.
	Coming bool
}

// whatIf is the rate that lateness was reckoned with.
type whatIf struct {
	// Limit is the rate; "" for none. Asked is what the user typed.
	Limit, Asked string
	// Wrong reports whether Asked is no rate, and Stopped whether the rate lets nothing through.
	Wrong, Stopped bool
	// Held reports whether the callbacks of the type are held back now, whatever the rate.
	Held bool
}

// Refresh overrides that of [site.Frame]. The first type appears soon, and not only when the days are counted anew. So
// does what takes the place of an old answer.
func (p *forecastPage) Refresh() bool {
	return p.Frame.Refresh() || p.Old() || len(p.Types) == 0 || p.Coming || calls.StatusOf(p.Problem) >= http.StatusInternalServerError
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
	page := &forecastPage{Frame: c.Frame(v, "forecast.title"), Type: v.R.FormValue("type")}
	page.Asked = v.R.FormValue("limit")
	page.Hour = page.Now.UTC().Hour()
	for hour := range 24 {
		page.Hours = append(page.Hours, hour)
	}
	known := (&types.Pages{Site: c.Site}).TypesPage(v)
	page.Types, page.Unread = known.Rows, known.Unread
	if page.Type == "" && len(page.Types) > 0 {
		page.Type = page.Types[0].BusinessType
	}
	if page.Type != "" {
		page.Held = page.Picture.IsHeld(page.Type)
		page.fill(c, v)
	}
	status := calls.StatusOf(page.Problem)
	if page.Wrong && page.Problem == nil {
		status = http.StatusUnprocessableEntity
	}
	c.Render(v, status, "forecast", page)
}

// fill asks for the minutes of a day, by which much that comes at once is seen, and for whole hours up to
// the end of the last day. These are counted anew for each request, so the page does not wait for them.
func (p *forecastPage) fill(c *Pages, v *site.Visit) {
	hour := p.Now.UTC().Truncate(words.Hour)
	fine, midnight := hour.Add(words.Day), hour.Truncate(words.Day)
	var f, later calls.Forecast
	minutes := url.Values{"step": {"1m"}, "to": {words.ISO(fine)}}
	if p.Problem = c.forecastOf(v, p.Type, calls.Get(calls.Root+"forecast").With(minutes), &f); p.Problem != nil {
		return
	}
	hours := url.Values{"step": {"1h"}, "from": {words.ISO(fine)}, "to": {words.ISO(midnight.Add(heatDays * words.Day))}}
	problem := c.forecastOf(v, p.Type, calls.Get(calls.Root+"forecast").With(hours).Briefly(), &later)
	p.Coming = calls.StatusOf(problem) >= http.StatusInternalServerError
	if problem != nil && !p.Coming {
		p.Problem = problem
		return
	}
	f.Steps = append(f.Steps, later.Steps...)
	p.Counted = f.CountedAt
	if p.UncountedFrom = f.UncountedFrom; p.UncountedFrom.IsZero() {
		p.UncountedFrom = later.UncountedFrom
	}
	p.layOut(f, midnight)
	p.Steps, p.Overdue = stepsOf(f, midnight), f.Overdue
	p.apply(&f)
	p.describeLateness(f)
}

// apply computes the lateness with the limit that is asked for.
func (p *whatIf) apply(f *calls.Forecast) {
	asked := strings.TrimSpace(p.Asked)
	limit, ok := site.Number(asked)
	wrong := !ok || limit < 0
	switch p.Wrong = wrong && asked != ""; {
	case asked != "" && !wrong:
		f.CallbacksPerSecond = &limit
		computeLateness(*f, limit)
	case f.CallbacksPerSecond == nil:
		return
	}
	p.Limit, p.Stopped = words.Rate(*f.CallbacksPerSecond), *f.CallbacksPerSecond == 0
}

func (c *Pages) forecastOf(v *site.Visit, businessType string, made calls.Call, f *calls.Forecast) *calls.Problem {
	made.Query.Set("business_type", businessType)
	_, problem := c.Call(v, made.Within(tuning.LiveHeat), f)
	return problem
}

// layOut lays the steps of a forecast out by day and hour.
func (p *forecastPage) layOut(f calls.Forecast, midnight time.Time) {
	for i := range heatDays {
		p.Days = append(p.Days, heatDay{Day: midnight.Add(time.Duration(i) * words.Day), Cells: make([]heatCell, len(p.Hours))})
	}
	for _, step := range f.Steps {
		if cell := p.cell(step.At); cell != nil {
			cell.At = step.At.UTC().Truncate(words.Hour)
			cell.Due += step.Due + step.DispatchItems
			p.Most = max(p.Most, cell.Due)
		}
	}
	for _, day := range p.Days {
		for i := range day.Cells {
			cell := &day.Cells[i]
			if cell.Due > 0 {
				cell.Level = 1 + int(math.Round(float64(cell.Due)/float64(p.Most)*(heatLevels-1)))
				cell.Link = links.List(links.TypedAs(p.Type)+" due:"+words.ISO(cell.At)+".."+words.ISO(cell.At.Add(words.Hour))+" sort:due", "")
			}
		}
	}
}

// cell is the hour of a time; nil where it is not shown.
func (p *forecastPage) cell(at time.Time) *heatCell {
	since := at.Sub(p.Days[0].Day)
	if since < 0 || since >= heatDays*words.Day {
		return nil
	}
	return &p.Days[int(since/words.Day)].Cells[int(since%words.Day/words.Hour)]
}

// describeLateness describes in a sentence where the limit is too low.
func (p *forecastPage) describeLateness(f calls.Forecast) {
	latest, late := time.Duration(0), map[*heatCell]bool{}
	for _, step := range f.Steps {
		by, _ := time.ParseDuration(step.Lateness) // "" for none
		cell := p.cell(step.At)
		if by <= 0 || cell == nil {
			continue
		}
		cell.Late = max(cell.Late, by)
		latest, late[cell] = max(latest, by), true
	}
	switch {
	case p.Stopped:
		p.Gist = p.None()
	case p.Limit == "":
		p.Gist = p.about("forecast.gist.nolimit")
	case len(late) == 0:
		p.Gist = p.about("forecast.gist")
	default:
		p.Gist = p.N("forecast.late", len(late)) + p.T("forecast.most", p.Span(latest))
	}
}

// about is a text about the most that falls due in an hour.
func (p *forecastPage) about(key string) string { return p.T(p.KeyFor(key, p.Most), p.Num(p.Most)) }

// None says that a limit of 0 lets nothing through.
func (p *forecastPage) None() string { return p.about("forecast.stopped") }

// stepsOf are the steps of a forecast as a text for our script: which hour each belongs to, counted from
// midnight, how many seconds it lasts, how many timers fall due in it, and how many items of dispatches are
// sent. Those without either are one.
func stepsOf(f calls.Forecast, midnight time.Time) string {
	var all []string
	idle := time.Duration(0)
	write := func(hour int, width time.Duration, due, items int) {
		all = append(all, fmt.Sprintf("%d,%d,%d,%d", hour, int(width.Seconds()), due, items))
	}
	for i, step := range f.Steps {
		hour := int(step.At.Sub(midnight) / words.Hour)
		if step.Due+step.DispatchItems == 0 {
			idle += widthOf(f, i)
			continue
		}
		if idle > 0 {
			write(hour, idle, 0, 0)
			idle = 0
		}
		write(hour, widthOf(f, i), step.Due, step.DispatchItems)
	}
	return strings.Join(all, " ")
}

// widthOf is how long a step lasts: until the next one, and an hour for the last. What was over of it when
// it was counted lets nothing through any more.
func widthOf(f calls.Forecast, i int) time.Duration {
	end := f.Steps[i].At.Add(words.Hour)
	if i+1 < len(f.Steps) {
		end = f.Steps[i+1].At
	}
	if over := end.Sub(f.CountedAt); i == 0 && over > 0 {
		return min(over, end.Sub(f.Steps[0].At))
	}
	return end.Sub(f.Steps[i].At)
}

// timersPart is the part of a limit that dispatches leave to timers. Our script knows it too.
const timersPart = 0.1

// computeLateness computes how late the last timer of each step is with another limit, as the API does: what
// falls due in a step is spread over it evenly, and dispatches go first, up to their part of the limit. What is more
// than that they send later. With a limit of 0 no lateness is known.
func computeLateness(f calls.Forecast, limit float64) {
	waiting, unsent := float64(f.Overdue), 0.0
	for i := range f.Steps {
		step, width := &f.Steps[i], widthOf(f, i).Seconds()
		wanted := unsent + float64(step.DispatchItems)
		items := min(wanted, limit*(1-timersPart)*width)
		before, rate := waiting, limit-items/width
		waiting, unsent = max(waiting+float64(step.Due)-rate*width, 0), wanted-items
		step.Lateness = ""
		if step.Due > 0 && limit > 0 {
			step.Lateness = calls.Takes(max(before, waiting), rate).Truncate(time.Second).String()
		}
	}
}
