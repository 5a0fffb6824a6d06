package timers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/jobs"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/types"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Pages are the list of timers, the page of one, and what is done with them.
type Pages struct{ *site.Site }

// Routes returns the routes of the pages.
func (c *Pages) Routes() []site.Route {
	return []site.Route{
		site.Show("timers", c.listTimers).Live(tuning.LiveTable).Listing(),
		site.Change(selectedPath, c.changeSelected),
		site.Show("timers/{type}/{id}", c.showTimer).Live(tuning.LiveTimer).Listing(),
		site.Show("timers/{type}/{id}/payload", c.showPayload),
		site.Show("timers/{type}/{id}/rule", c.showRule),
		site.Change("timers/{type}/{id}/rule", c.changeRule),
		site.Change("timers/{type}/{id}/{action}", c.changeTimer),
	}
}

// keyIn is the timer that a path names.
func keyIn(r *http.Request) calls.Key {
	return calls.Key{BusinessType: r.PathValue("type"), BusinessID: r.PathValue("id")}
}

// selectedPath is where the form of a list is sent.
const selectedPath = "timers/selected"

// timersPage is a list of timers.
type timersPage struct {
	site.Frame
	Views   []savedView
	Timers  []calls.Timer
	Columns []string
	// Total is how many there are; nil where that is not known.
	Total *total
	// Next leads to the next page, First to the first one; "" where this is it.
	Next, First string
	// Wrong are the parts of the search that are not understood, and Nothing those that find
	// nothing by themselves.
	Wrong, Nothing []string
	// Tried are the ids that a word was taken for, by their keys in the catalogues.
	Tried []string
	elsewhere
	// Types are those that one may search in, where no type was named and one must be.
	Types []types.TypeRow
	// Actions are what may be done with those that are selected.
	Actions []action
	// All asks what is to be done with all that match; nil where nothing may be.
	All *jobs.Form
	// Problem is why there is no list.
	Problem *calls.Problem
}

type savedView struct {
	Key, Link string
	Here      bool
}

func (c *Pages) listTimers(v *site.Visit) {
	typed := strings.TrimSpace(v.R.FormValue("q"))
	token := v.R.FormValue("page_token")
	s := search.Parse(typed, c.Now())
	asked, ok := questionsOf(s, c.Picture(v), v.Who, c.Now())
	if v.Live = v.Live && len(asked) <= tuning.LiveQuestions; v.Part && len(asked) > tuning.LiveQuestions {
		v.W.WriteHeader(http.StatusNoContent) // the page stays as it was
		return
	}
	hit := c.findByID(v, s, token)
	if len(hit.timers) == 1 {
		v.Redirect(hit.timers[0].Path())
		return
	}
	page := &timersPage{Frame: c.Frame(v, "timers.title"), Wrong: s.Wrong, Columns: columnsOf(v.R.URL.Query())}
	page.Search = typed
	for _, view := range search.Saved {
		page.Views = append(page.Views, savedView{view.Key, page.WithColumns(links.List(view.Search, "")), view.Search == typed})
	}
	if token != "" {
		page.First = page.link("")
	}
	page.Tried = hit.tried
	switch {
	case len(s.Wrong) > 0:
	case hit.problem != nil:
		page.Problem = hit.problem
	case len(hit.timers) > 0:
		page.Timers = hit.timers
	case strings.Contains(s.Word, "/"): // no id has one, so no list finds it
	case !ok:
		page.Types = (&types.Pages{Site: c.Site}).TypesPage(v).Rows
	default:
		page.fill(c, v, asked, token)
		page.Total = c.totalOf(v, page, s)
		page.elsewhere = elsewhere{Ahead: aheadOf(s, c.Now()), Redelivered: lacksRedelivered(s)}
	}
	page.offer(v, s)
	c.Render(v, page.status(), "timers", page)
}

// status is that of the answer: a search that is not understood is no failure of the page.
func (p *timersPage) status() int {
	if p.Problem != nil {
		return p.Problem.Status
	}
	return http.StatusOK
}

// Barred overrides that of [site.Frame]. A visitor with several roles may change timers, and only see those of the type
// that the search names.
func (p *timersPage) Barred() string {
	businessType := search.Parse(p.Search, p.Now).Query.Get("business_type")
	if businessType == "" || p.Problem != nil {
		return p.Frame.Barred()
	}
	return p.BarredUnless(p.Who.May(auth.Operator, businessType), "actions.barred")
}

// link is a page of the list, with the columns of this one.
func (p *timersPage) link(token string) string { return p.WithColumns(links.List(p.Search, token)) }

// WithColumns is the address of a list, with the columns of this one.
func (p *timersPage) WithColumns(to string) string {
	if len(p.Chosen()) == 0 {
		return to
	}
	chosen := url.Values{"col": p.Chosen()}.Encode()
	if strings.Contains(to, "?") {
		return to + "&" + chosen
	}
	return to + "?" + chosen
}

// offer adds what may be done with the timers that are shown.
func (p *timersPage) offer(v *site.Visit, s search.Search) {
	businessType := s.Query.Get("business_type")
	may := v.Who.MaySomewhere(auth.Operator) && (businessType == "" || v.Who.May(auth.Operator, businessType))
	if p.Fixed() != "" || len(p.Timers) == 0 || !may {
		return
	}
	several := s.View != "" || businessType == "" && !v.Who.May(auth.Viewer, "") // no job selects them
	p.Actions = calls.Where(actions, func(a action) bool {
		return slices.ContainsFunc(p.Timers, a.where)
	})
	if several || !v.Who.May(auth.Operator, businessType) { // all that match are of more types than that
		return
	}
	if form := jobs.FormOf(s, p.Search); len(form.Operations) > 0 {
		p.All = form
	}
}

// spans are the parameters that a search says in words that depend on the time.
var spans = []string{"due_from", "due_to", "ended_from", "ended_to"}

func spansOf(query url.Values) string {
	values := make([]string, len(spans))
	for i, name := range spans {
		values[i] = query.Get(name)
	}
	return strings.TrimRight(strings.Join(values, "!"), "!")
}

func reopen(query url.Values, text string) {
	for i, value := range strings.Split(text, "!") {
		if i < len(spans) && value != "" && query.Has(spans[i]) {
			query.Set(spans[i], value)
		}
	}
}
