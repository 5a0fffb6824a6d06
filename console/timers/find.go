package timers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/tuning"
)

// hit is what a word finds as an id.
type hit struct {
	// timers are those with the id; several where the id is one of several types.
	timers []calls.Timer
	// tried are the ids that the word was taken for, by their keys in the catalogues.
	tried   []string
	problem *calls.Problem
	// listed reports whether the list has several.
	listed bool
}

// The forms of ids that are not the client's own.
var (
	webhookForm = regexp.MustCompile(`^msg_[a-z2-7]{26}$`)
	runForm     = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// findByID takes the word of a search for an id: of a timer of any type first, then for type/id, a
// webhook id and a run id. It finds nothing where the search has no word.
func (c *Pages) findByID(v *site.Visit, s search.Search, token string) (found hit) {
	if s.Word == "" || s.View != "" || token != "" || len(s.Wrong) > 0 {
		return hit{}
	}
	if businessType, id, named := strings.Cut(s.Word, "/"); named {
		one, problem := c.exactly(v, businessType, id)
		return hit{timers: one, tried: []string{"search.tried.exact"}, problem: problem}
	}
	found = c.ofAnyType(v, s)
	for _, other := range []struct {
		form            *regexp.Regexp
		parameter, note string
	}{{webhookForm, "webhook_id", "search.tried.webhook"}, {runForm, "run_id", "search.tried.run"}} {
		if found.listed || len(found.timers) > 0 || !other.form.MatchString(s.Word) {
			continue
		}
		page, problem := c.FindTimers(v, url.Values{other.parameter: {s.Word}})
		if found.timers = page.Timers; problem != nil && found.problem == nil {
			found.problem = problem
		}
		found.tried = append(found.tried, other.note)
	}
	return found
}

// ofAnyType finds the timers with an id, by a list where there is one. Else each type that is known
// is asked for the id: that needs no list.
func (c *Pages) ofAnyType(v *site.Visit, s search.Search) (found hit) {
	found.tried = []string{"search.tried.id"}
	mayList := s.Query.Has("business_type") || v.Who.May(auth.Viewer, "")
	if mayList && !c.Picture(v).ListsAway() {
		query := with(s.All(), "page_size", "2")
		page, problem := c.FindTimers(v, query)
		if problem == nil {
			if found.listed = len(page.Timers) > 1; !found.listed {
				found.timers = page.Timers
			}
			return found
		}
		if found.problem = problem; problem.Status < http.StatusInternalServerError {
			return found
		}
	}
	if found.timers = c.askEach(v, s); len(found.timers) > 0 {
		found.problem = nil
	}
	return found
}

// askEach asks the types that are known, or the one that a search names, for an id.
func (c *Pages) askEach(v *site.Visit, s search.Search) (found []calls.Timer) {
	types := s.Query["business_type"]
	if len(types) == 0 {
		for _, policy := range c.Picture(v).Types() {
			types = append(types, policy.BusinessType)
		}
	}
	types = types[:min(len(types), tuning.LookTypes)]
	each := make([][]calls.Timer, len(types))
	var group errgroup.Group
	group.SetLimit(tuning.SelectedAtOnce)
	for i, businessType := range types {
		group.Go(func() error {
			each[i], _ = c.exactly(v, businessType, s.Word) // one without it is no failure
			return nil
		})
	}
	_ = group.Wait() // none fails
	for _, one := range each {
		found = append(found, one...)
	}
	return found
}

// exactly is the timer of a type with an id; none for none.
func (c *Pages) exactly(v *site.Visit, businessType, id string) ([]calls.Timer, *calls.Problem) {
	var one calls.Timer
	_, problem := c.Call(v, calls.Get(calls.Key{BusinessType: businessType, BusinessID: id}.Resource()), &one)
	switch {
	case problem == nil:
		return []calls.Timer{one}, nil
	case problem.Status == http.StatusNotFound:
		return nil, nil
	default:
		return nil, problem
	}
}
