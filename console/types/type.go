package types

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/internal/auth"
)

// typePage is one business type: its state, what lies ahead, what has failed, and its policy.
type typePage struct {
	site.Frame
	loadedPlots
	Row TypeRow
	// ETag is that of the policy; "" for none.
	ETag string
	// JSON is the policy as the API has it, to be edited.
	JSON     string
	Tiles    []tile
	Failures failures
	Versions []calls.PolicyVersion
	// Admin reports whether who looks may change the policy, and Operator whether the timers.
	Admin, Operator bool
	Refused         string
	Done            string
	// Problem is why a change was not made, and Typed what stood in its form.
	Problem *calls.Problem
	Typed   url.Values
}

func (c *Pages) showType(v *site.Visit) {
	page, problem := c.typePage(v)
	if problem != nil {
		c.RefuseBy(v, problem)
		return
	}
	page.Done = v.Done("typed.")
	c.Render(v, http.StatusOK, "type", page)
}

func (c *Pages) typePage(v *site.Visit) (*typePage, *calls.Problem) {
	businessType := v.R.PathValue("type")
	page := &typePage{Frame: c.Frame(v, "type.title"), Typed: v.R.PostForm}
	page.Title, page.JSON = businessType, "{}"
	policy, problem := c.readPolicy(v, page)
	if problem != nil && problem.Status != http.StatusNotFound {
		return nil, problem
	}
	var known struct {
		Versions []calls.PolicyVersion `json:"versions"`
	}
	c.Call(v, calls.Get(policyPath(businessType)+"/versions"), &known) // a page without them is better than none
	if page.Versions = known.Versions; problem != nil && !c.isKnown(v, page) {
		return nil, problem
	}
	page.Row = rowOf(page.Picture, policy)
	page.Tiles = tilesOf(page.Picture, businessType, true)
	if !v.Part { // those of an open page are drawn apart
		page.loadedPlots = c.loadPlots(v, "type", businessType, page.Frame)
	}
	page.Failures = c.failuresOf(v, businessType)
	page.offer(v.Who)
	return page, nil
}

// readPolicy reads the policy of a page. Without one there is its name.
func (c *Pages) readPolicy(v *site.Visit, page *typePage) (policy calls.Policy, problem *calls.Problem) {
	policy.BusinessType = page.Title
	var raw jsontext.Value
	a, problem := c.Call(v, calls.Get(policyPath(page.Title)), &raw)
	if problem != nil {
		return policy, problem
	}
	page.ETag, page.JSON = a.Head.Get("ETag"), site.Indented(raw)
	return policy, c.Decode(raw, &policy)
}

// isKnown reports whether a type without a policy had one, is paused, or has timers.
func (c *Pages) isKnown(v *site.Visit, page *typePage) bool {
	named := func(one calls.Policy) bool { return one.BusinessType == page.Title }
	if len(page.Versions) > 0 || slices.ContainsFunc(page.Picture.Types(), named) {
		return true
	}
	var counted struct {
		Timers calls.Counts `json:"timers"`
	}
	_, problem := c.Call(v, calls.Get(calls.Root+"stats").With(url.Values{"business_type": {page.Title}}), &counted)
	return problem == nil && counted.Timers.InStatus("") > 0
}

// Refresh implements that of [site.Frame].
func (p *typePage) Refresh() bool { return p.Frame.Refresh() || p.coming }

// offer says what who looks may change, and whom to ask where that is nothing.
func (p *typePage) offer(who *auth.Principal) {
	fixed := p.Fixed()
	p.Operator = fixed == "" && who.May(auth.Operator, p.Row.BusinessType)
	p.Admin = fixed == "" && who.May(auth.Admin, p.Row.BusinessType)
	if p.Operator {
		p.Row.Action = actionOf(p.Picture, p.Row)
	}
	p.Row.MayEdit = p.Admin && p.ETag != ""
	switch {
	case p.Admin:
	case fixed != "":
		p.Refused = p.Asking(fixed)
	default:
		p.Refused = p.Asking(p.T("type.refused"))
	}
}

// Barred implements that of [site.Frame]: it stands where the policy is changed.
func (p *typePage) Barred() string { return "" }

// policyPath is a policy in the API.
func policyPath(businessType string) string {
	return calls.Root + "policies/" + url.PathEscape(businessType)
}

// Words is the policy in a sentence.
func (p *typePage) Words() string {
	policy := p.Row.Policy
	if p.ETag == "" {
		return p.T("policy.none")
	}
	var parts []string
	switch {
	case policy.Callback.Stream:
		parts = append(parts, p.T("policy.stream"))
	case policy.Callback.URL != "":
		parts = append(parts, p.T("policy.calls", policy.Callback.URL))
	case policy.Callback.Broker != "":
		parts = append(parts, p.T("policy.publishes", policy.Callback.Address()))
	default:
		parts = append(parts, p.T("policy.nowhere"))
	}
	attempts := p.N("policy.attempts", policy.Attempts())
	if ladder := policy.Ladder(); ladder > 0 {
		attempts = p.T("policy.over", attempts, p.Span(ladder))
	}
	parts = append(parts, attempts)
	if policy.ExpiresAfter != "" {
		parts = append(parts, p.T("policy.expires", p.Exactly(policy.ExpiresAfter)))
	}
	if limit := policy.Rate(); limit != "" {
		parts = append(parts, p.T("policy.rate", limit))
	}
	switch {
	case policy.Fallback.Stream:
		parts = append(parts, p.T("policy.fallback.stream"))
	case p.Second():
		parts = append(parts, p.T("policy.fallback", policy.Fallback.Address()))
	}
	return strings.Join(parts, p.T("policy.and")) + p.T("policy.end")
}

// Second reports whether the policy has a second link.
func (p *typePage) Second() bool {
	fallback := p.Row.Fallback
	return fallback.Stream || fallback.Address() != ""
}

// failures are the timers of a type that have failed in a while, by how.
type failures struct {
	Groups []failureGroup
	// N is how many they are as far as they were counted, and More whether there are more.
	N    int
	More bool
	// Search finds them.
	Search string
	// Unread reports whether they cannot be read now.
	Unread bool
}

// failureGroup are those that have failed in the same way.
type failureGroup struct {
	How     string
	N       int
	Example calls.Timer
}

// failuresWithin is how far the page of a type looks back, and aroundMinute how far around the
// minute that an alert names.
const (
	failuresWithin = time.Hour
	aroundMinute   = 5 * time.Minute
)

// failuresOf reads what has failed in the last hour, or around the minute of ?at=.
func (c *Pages) failuresOf(v *site.Visit, businessType string) (found failures) {
	to := c.Now()
	from := to.Add(-failuresWithin)
	if at, ok := search.MomentOf(v.R.FormValue("at"), to.UTC().Truncate(words.Day)); ok {
		from, to = at.Add(-aroundMinute), at.Add(aroundMinute)
	}
	found.Search = links.TypedAs(businessType) + " status:" + calls.StatusFailed + " ended:" + words.ISO(from) + ".." + words.ISO(to)
	query := search.Parse(found.Search, c.Now()).All()
	query.Set("page_size", strconv.Itoa(site.PageSize))
	all, problem := c.FindTimers(v, query)
	if found.Unread = problem != nil; found.Unread {
		return found
	}
	for _, one := range all.Timers {
		how := one.LastFailure.Kind()
		i := slices.IndexFunc(found.Groups, func(g failureGroup) bool { return g.How == how })
		if i < 0 {
			i = len(found.Groups)
			found.Groups = append(found.Groups, failureGroup{How: how, Example: one})
		}
		found.Groups[i].N++
	}
	slices.SortStableFunc(found.Groups, func(a, b failureGroup) int { return b.N - a.N })
	found.N, found.More = len(all.Timers), all.NextPageToken != ""
	return found
}

// List leads to them.
func (f failures) List() string { return links.List(f.Search, "") }
