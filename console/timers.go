package console

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/internal/auth"
)

// timerPages are the list of timers, the page of one, and what is done with them.
type timerPages struct{ *Site }

// routes are those of the pages.
func (c *timerPages) routes() []route {
	return []route{
		{http.MethodGet, "timers", signedIn, c.listTimers},
		{http.MethodPost, "timers/selected", changing, c.changeSelected},
		{http.MethodGet, "timers/{type}/{id}", signedIn, c.showTimer},
		{http.MethodPost, "timers/{type}/{id}/{action}", changing, c.changeTimer},
	}
}

// timersPage is a list of timers.
type timersPage struct {
	frame
	Views   []savedView
	Timers  []Timer
	Columns []string
	// Total is how many there are, as far as that is known without counting; "" where it is not.
	Total string
	// Next leads to the next page, First to the first one; "" where this is it.
	Next, First string
	// Wrong are the parts of the search that are not understood, and Nothing those that find
	// nothing by themselves.
	Wrong, Nothing []string
	// Types are those that one may search in, where no type was named and one must be.
	Types []typeRow
	// Actions are what may be done with those that are selected, and Operations with all that match.
	Actions    []action
	Operations []string
	// Problem is why there is no list.
	Problem *Problem
}

type savedView struct {
	Key, Link string
	Here      bool
}

func (c *timerPages) listTimers(v *visit) {
	typed := strings.TrimSpace(v.R.FormValue("q"))
	token := v.R.FormValue("page_token")
	s := parseSearch(typed, c.Now())
	to, problem := c.directly(v, s, token)
	if to != "" {
		v.redirect(to)
		return
	}
	page := &timersPage{frame: c.frame(v, "timers.title"), Wrong: s.wrong, Columns: columnsOf(v.R.URL.Query())}
	page.Search = typed
	for _, view := range saved {
		page.Views = append(page.Views, savedView{view.Key, list(view.Search, ""), view.Search == typed})
	}
	if token != "" {
		page.First = page.link("")
	}
	switch {
	case problem != nil:
		page.Problem = problem
	case len(s.wrong) > 0:
	case !v.who.May(auth.Viewer, "") && !s.query.Has("business_type"):
		page.Types = (&typePages{c.Site}).typesPage(v).Rows
	default:
		page.fill(c, v, s, token)
	}
	page.offer(c, v, s)
	c.render(v, page.status(), "timers", page)
}

// status is that of the answer: a search that is not understood is no failure of the page.
func (p *timersPage) status() int {
	if p.Problem != nil {
		return p.Problem.Status
	}
	return http.StatusOK
}

// link is a page of the list, with the columns of this one.
func (p *timersPage) link(token string) string {
	to := list(p.Search, token)
	if slices.Equal(p.Columns, usualColumns) {
		return to
	}
	chosen := url.Values{"col": p.Columns}.Encode()
	if strings.Contains(to, "?") {
		return to + "&" + chosen
	}
	return to + "?" + chosen
}

// offer adds what may be done with the timers that are shown.
func (p *timersPage) offer(c *timerPages, v *visit, s search) {
	businessType := s.query.Get("business_type")
	if c.Mode != On || len(p.Timers) == 0 || !v.who.MaySomewhere(auth.Operator) || businessType != "" && !v.who.May(auth.Operator, businessType) {
		return
	}
	status := s.query.Get("status")
	p.Actions = where(actions, func(a action) bool {
		return slices.ContainsFunc(p.Timers, a.where)
	})
	if !v.who.May(auth.Operator, businessType) { // all that match are of more types than that
		return
	}
	p.Operations = where(operations, func(name string) bool {
		return status == "" || (name == "redeliver") == (status == statusFailed) && !endedUnchanged(status)
	})
}

// endedUnchanged reports whether nothing can be done with timers of a status.
func endedUnchanged(status string) bool {
	return status != statusFailed && Timer{Status: status}.Finished()
}

// fill asks for the timers that a search is for. A page begins where the one before has ended:
// its times are those that were asked for then, which its token names.
func (p *timersPage) fill(c *timerPages, v *visit, s search, token string) {
	query := s.all()
	if token != "" {
		spans, of, _ := strings.Cut(token, "~")
		reopen(query, spans)
		query.Set("page_token", of)
	}
	query.Set("page_size", strconv.Itoa(pageSize))
	found, problem := c.findTimers(v, query)
	if p.Problem = problem; problem != nil {
		return
	}
	p.Timers = found.Timers
	if found.NextPageToken != "" {
		p.Next = p.link(spansOf(query) + "~" + found.NextPageToken)
	}
	if len(p.Timers) == 0 && token == "" {
		p.Nothing = c.nothingBy(v, p.Search)
	}
	p.Total = p.total(s)
}

// nothingBy are the parts of a search of several that find nothing by themselves.
func (c *timerPages) nothingBy(v *visit, typed string) (parts []string) {
	all := strings.Fields(typed)
	if len(all) < 2 || len(all) > maxPartsTried {
		return nil
	}
	businessType := parseSearch(typed, c.Now()).query.Get("business_type")
	for _, part := range all {
		query := parseSearch(part, c.Now()).all()
		if !query.Has("business_type") && !v.who.May(auth.Viewer, "") {
			query.Set("business_type", businessType)
		}
		query.Set("page_size", "1")
		if found, problem := c.findTimers(v, query); problem == nil && len(found.Timers) == 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// maxPartsTried bounds how many questions an empty answer causes.
const maxPartsTried = 5

// total is how many timers a search by type and status finds, which the picture tells.
func (p *timersPage) total(s search) string {
	for name := range s.query {
		if name != "business_type" && name != "status" && name != "sort" {
			return ""
		}
	}
	if s.word != "" || len(p.picture.Counts) == 0 {
		return ""
	}
	sum, only := 0, s.query.Get("business_type")
	for businessType, counts := range p.picture.Counts {
		if only == "" || only == businessType {
			sum += counts.of(s.query.Get("status"))
		}
	}
	return p.Num(sum)
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

// directly is the page that a search for one timer leads to: the only timer of the id, or the
// one of type/id, which needs no list. It is "" where a list is due.
func (c *timerPages) directly(v *visit, s search, token string) (to string, problem *Problem) {
	if s.word == "" || token != "" || len(s.wrong) > 0 {
		return "", nil
	}
	if businessType, id, named := strings.Cut(s.word, "/"); named {
		var found Timer
		if _, problem := c.call(v, call{method: http.MethodGet, path: timerPath(apiRoot, businessType, id)}, &found); problem != nil {
			return "", problem
		}
		return found.Path(), nil
	}
	query := maps.Clone(s.query)
	query.Set("business_id", s.word)
	query.Set("page_size", "2")
	if found, problem := c.findTimers(v, query); problem == nil && len(found.Timers) == 1 {
		return found.Timers[0].Path(), nil
	}
	return "", nil // the list says why there is none
}
