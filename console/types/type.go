package types

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/auth"
)

// typePage is one business type: its state, what lies ahead, what has failed, and its policy.
type typePage struct {
	site.Frame
	loadedPlots
	Row TypeRow
	// ETag is the ETag of the policy; "" for none.
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
	site.Refusal
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
	page := &typePage{Frame: c.Frame(v, "type.title"), Refusal: site.Refusal{Typed: v.R.PostForm}}
	page.Title, page.JSON = businessType, "{}"
	policy, problem := c.readPolicy(v, page)
	if problem != nil && problem.Status != http.StatusNotFound {
		return nil, problem
	}
	page.Versions, _ = c.versionsOf(v, businessType) // a page without them is better than none
	if problem != nil && !c.isKnown(v, page) {
		return nil, problem
	}
	page.Row = rowOf(page.Picture, policy)
	page.Tiles = tilesOf(page.Picture, businessType, true)
	if !v.Part { // those of an open page are drawn apart
		page.loadedPlots = c.loadPlots(v, "type", businessType, page.Frame)
	}
	page.Failures = c.failuresOf(v, businessType, page.Picture)
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

// versionsOf reads the versions of a type's policy.
func (c *Pages) versionsOf(v *site.Visit, businessType string) ([]calls.PolicyVersion, *calls.Problem) {
	var known struct {
		Versions []calls.PolicyVersion `json:"versions"`
	}
	_, problem := c.Call(v, calls.Get(policyPath(businessType)+"/versions"), &known)
	return known.Versions, problem
}

// isKnown reports whether a type without a policy had one, is paused, or has timers.
func (c *Pages) isKnown(v *site.Visit, page *typePage) bool {
	named := func(one calls.Policy) bool { return one.BusinessType == page.Title }
	if len(page.Versions) > 0 || slices.ContainsFunc(page.Picture.Types(), named) {
		return true
	}
	var counted calls.Stats
	_, problem := c.Call(v, calls.Get(calls.Root+"stats").With(url.Values{"business_type": {page.Title}}), &counted)
	return problem == nil && counted.Timers.InStatus("") > 0
}

// Refresh overrides that of [site.Frame].
func (p *typePage) Refresh() bool { return p.Frame.Refresh() || p.coming }

// offer sets what the user may change, or names the contact if that is nothing.
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
		p.Refused = fixed
	default:
		p.Refused = p.Asking(p.T("type.refused"))
	}
}

// Barred overrides that of [site.Frame]: it stands where the policy is changed.
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
