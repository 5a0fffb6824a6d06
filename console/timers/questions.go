package timers

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/watch"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// questionsOf are what the API's list is asked for a search, one after the other. ok is false where
// a user who sees some types only has to choose one of them first.
func questionsOf(s search.Search, p *watch.Picture, who *auth.Principal, now time.Time) (all []url.Values, ok bool) {
	of := s.All()
	switch s.View {
	case search.Late:
		all = append(all,
			with(of, "status", calls.StatusDelivering, "sort", "due", "due_to", words.ISO(now)),
			with(of, "status", calls.StatusScheduled, "sort", "due", "due_to", words.ISO(now.Add(-tuning.OverdueAfter))))
	case search.Held:
		all = append(all, with(of, "status", calls.StatusPaused))
		all = append(all, heldBack(of, p)...)
	default:
		all = append(all, of)
	}
	if who.May(auth.Viewer, "") {
		return all, true
	}
	return ofTypes(all, p)
}

// heldBack are the questions for what is due and held back. While everything is paused that is one question,
// whatever types there are.
func heldBack(of url.Values, p *watch.Picture) (all []url.Values) {
	due := with(of, "status", calls.StatusDelivering)
	if p.Everything() != nil {
		return []url.Values{due}
	}
	for _, businessType := range p.HeldTypes() {
		if !of.Has("business_type") || of.Get("business_type") == businessType {
			all = append(all, with(due, "business_type", businessType))
		}
	}
	return all
}

// ofTypes asks each question that names no type once for each type of a picture.
func ofTypes(questions []url.Values, p *watch.Picture) (all []url.Values, ok bool) {
	types := p.Types()
	ok = true
	for _, question := range questions {
		if question.Has("business_type") {
			all = append(all, question)
			continue
		}
		ok = ok && len(types) > 0 && len(types) <= tuning.LookTypes
		for _, policy := range types {
			all = append(all, with(question, "business_type", policy.BusinessType))
		}
	}
	return all, ok
}

// with is a question with more in it, as names and values in turn.
func with(question url.Values, more ...string) url.Values {
	one := maps.Clone(question)
	for i := 0; i+1 < len(more); i += 2 {
		one.Set(more[i], more[i+1])
	}
	return one
}

// place is where a page of a list begins: at a token of one of its questions. The times of that
// question are those that were asked for when the list began.
type place struct {
	question     int
	spans, token string
}

func placeOf(text string) (at place) {
	var number string
	at.spans, text, _ = strings.Cut(text, "~")
	number, at.token, _ = strings.Cut(text, "~")
	at.question, _ = strconv.Atoi(number)
	return at
}

func (at place) String() string {
	return at.spans + "~" + strconv.Itoa(at.question) + "~" + at.token
}

// fill asks one question after the other until the page is full.
func (p *timersPage) fill(c *Pages, v *site.Visit, questions []url.Values, token string) {
	at := placeOf(token)
	for i := max(at.question, 0); i < len(questions) && len(p.Timers) < site.PageSize; i++ {
		query := with(questions[i], "page_size", strconv.Itoa(site.PageSize-len(p.Timers)))
		if i == at.question && token != "" {
			reopen(query, at.spans)
			if at.token != "" {
				query.Set("page_token", at.token)
			}
		}
		found, problem := c.FindTimers(v, query)
		if p.Problem = problem; problem != nil {
			return
		}
		p.Timers = append(p.Timers, found.Timers...)
		switch {
		case found.NextPageToken != "":
			p.Next = p.link(place{i, spansOf(query), found.NextPageToken}.String())
			return
		case len(p.Timers) >= site.PageSize && i+1 < len(questions):
			p.Next = p.link(place{question: i + 1}.String())
		}
	}
	if len(p.Timers) == 0 && token == "" {
		p.Nothing = c.partsWithoutMatch(v, p)
	}
}

// maxPartsTried bounds how many questions an empty answer causes.
const maxPartsTried = 5

// partsWithoutMatch are the parts of a search that find nothing by themselves.
func (c *Pages) partsWithoutMatch(v *site.Visit, p *timersPage) (parts []string) {
	all := strings.Fields(p.Search)
	if len(all) < 2 || len(all) > maxPartsTried {
		return nil
	}
	businessType := search.Parse(p.Search, c.Now()).Query.Get("business_type")
	for _, part := range all {
		alone := search.Parse(part, c.Now())
		if !alone.Query.Has("business_type") && businessType != "" && !v.Who.May(auth.Viewer, "") {
			alone.Query.Set("business_type", businessType)
		}
		if questions, ok := questionsOf(alone, p.Picture, v.Who, c.Now()); ok && c.findNone(v, questions) {
			parts = append(parts, part)
		}
	}
	return parts
}

// findNone reports whether no question finds a timer.
func (c *Pages) findNone(v *site.Visit, questions []url.Values) bool {
	for _, question := range questions {
		if found, problem := c.FindTimers(v, with(question, "page_size", "1")); problem != nil || len(found.Timers) > 0 {
			return false
		}
	}
	return true
}
