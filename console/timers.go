package console

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// timersPage is a list of timers.
type timersPage struct {
	frame
	Views  []savedView
	Timers []Timer
	// Next leads to the next page, First to the first one; "" where this is it.
	Next, First string
	// Wrong are the parts of the search that are not understood.
	Wrong []string
	// Problem is why there is no list.
	Problem *Problem
}

type savedView struct {
	Key, Link string
	Here      bool
}

func (c *Console) listTimers(v *visit) {
	typed := strings.TrimSpace(v.r.FormValue("q"))
	token := v.r.FormValue("page_token")
	s := parseSearch(typed, c.Now())
	to, problem := c.directly(v, s, token)
	if to != "" {
		v.redirect(to)
		return
	}
	page := timersPage{frame: c.frame(v, "timers.title"), Wrong: s.wrong}
	page.Search = typed
	for _, view := range saved {
		page.Views = append(page.Views, savedView{view.Key, list(view.Search, ""), view.Search == typed})
	}
	if token != "" {
		page.First = list(typed, "")
	}
	if page.Problem = problem; problem == nil && len(s.wrong) == 0 {
		page.fill(c, v, s, token)
	}
	c.render(v, page.status(), "timers", page)
}

// status is that of the answer: a search that is not understood is no failure of the page.
func (p *timersPage) status() int {
	if p.Problem != nil {
		return p.Problem.Status
	}
	return http.StatusOK
}

// pageSize is how many timers a page shows.
const pageSize = 50

// fill asks for the timers that a search is for. A page begins where the one before has ended:
// its times are those that were asked for then, which its token names.
func (p *timersPage) fill(c *Console, v *visit, s search, token string) {
	query := s.query
	if s.word != "" {
		query.Set("business_id", s.word)
	}
	if token != "" {
		spans, of, _ := strings.Cut(token, "~")
		reopen(query, spans)
		query.Set("page_token", of)
	}
	query.Set("page_size", strconv.Itoa(pageSize))
	var found struct {
		Timers        []Timer `json:"timers"`
		NextPageToken string  `json:"next_page_token"`
	}
	if _, p.Problem = c.call(v, call{method: http.MethodGet, path: apiRoot + "timers", query: query}, &found); p.Problem != nil {
		return
	}
	p.Timers = found.Timers
	if found.NextPageToken != "" {
		p.Next = list(p.Search, spansOf(query)+"~"+found.NextPageToken)
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

// directly is the page that a search for one timer leads to: the only timer of the id, or the
// one of type/id, which needs no list. It is "" where a list is due.
func (c *Console) directly(v *visit, s search, token string) (to string, problem *Problem) {
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
	var found struct {
		Timers []Timer `json:"timers"`
	}
	if _, problem := c.call(v, call{method: http.MethodGet, path: apiRoot + "timers", query: query}, &found); problem == nil && len(found.Timers) == 1 {
		return found.Timers[0].Path(), nil
	}
	return "", nil // the list says why there is none
}
