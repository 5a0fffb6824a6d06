package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

const policiesPath = "/v1/policies"

// Policies manages policies.
type Policies struct{ caller *caller }

// Planned is the result of a dry run of a PUT.
type Planned struct {
	Created bool                `json:"created"`
	Changes []policy.Difference `json:"changes"`
	Policy  policy.Policy       `json:"policy"`
}

// Match is the version that a policy must have to be changed. Zero admits any version, and a
// missing policy. A change with another Match is not repeated if its answer was lost, because
// the second try would find another version.
type Match int

// NoPolicy is the [Match] of a new policy: none may exist.
const NoPolicy Match = -1

func (m Match) header() http.Header {
	switch m {
	case 0:
		return nil
	case NoPolicy:
		return http.Header{"If-None-Match": {timer.AnyTag}}
	default:
		return http.Header{"If-Match": {strconv.Quote(strconv.Itoa(int(m)))}}
	}
}

// Get returns the policy of a business type. Its secrets are masked.
func (p Policies) Get(ctx context.Context, businessType string) (policy policy.Policy, err error) {
	_, err = p.caller.do(ctx, call{method: http.MethodGet, path: policyPath(businessType)}, &policy)
	return policy, err
}

// PolicyFilter selects policies that hold back their type. Its zero value selects all.
type PolicyFilter struct{ Paused, BackPressure bool }

// List returns the policies that a filter selects.
func (p Policies) List(ctx context.Context, filter PolicyFilter) ([]policy.Policy, error) {
	query := url.Values{}
	for name, only := range map[string]bool{"paused": filter.Paused, "back_pressure": filter.BackPressure} {
		if only {
			query.Set(name, "true")
		}
	}
	var answer struct{ Policies []policy.Policy }
	_, err := p.caller.do(ctx, call{method: http.MethodGet, path: policiesPath, query: query}, &answer)
	return answer.Policies, err
}

// Put stores a policy, if the present one matches. document is any value that is a policy in
// JSON.
func (p Policies) Put(ctx context.Context, businessType string, document any, match Match) (policy policy.Policy, err error) {
	_, err = p.caller.do(ctx, call{
		method: http.MethodPut, path: policyPath(businessType), body: document, header: match.header(), once: match != 0,
	}, &policy)
	return policy, err
}

// PutBack stores a policy as it was in an earlier version, with its header values, if the present one matches. That
// may be none, where it was deleted.
func (p Policies) PutBack(ctx context.Context, version PolicyVersion, match Match) (policy policy.Policy, err error) {
	_, err = p.caller.do(ctx, call{
		method: http.MethodPut, path: policyPath(version.Policy.BusinessType), body: version.Policy, header: match.header(), once: match != 0,
		query: url.Values{"keep_from": {strconv.Itoa(version.Version)}},
	}, &policy)
	return policy, err
}

// Plan returns the changes that [Policies.Put] would make, and changes nothing.
func (p Policies) Plan(ctx context.Context, businessType string, document any) (Planned, error) {
	return p.plan(ctx, call{method: http.MethodPut, path: policyPath(businessType), body: document})
}

// PlanPatch returns the changes that [Policies.Patch] would make, and changes nothing.
func (p Policies) PlanPatch(ctx context.Context, businessType string, patch any) (Planned, error) {
	return p.plan(ctx, call{method: http.MethodPatch, path: policyPath(businessType), body: patch})
}

func (p Policies) plan(ctx context.Context, call call) (planned Planned, err error) {
	call.query = url.Values{"dry_run": {"true"}}
	_, err = p.caller.do(ctx, call, &planned)
	return planned, err
}

// Patch edits a policy in part (RFC 7396), or makes one from the patch alone.
func (p Policies) Patch(ctx context.Context, businessType string, patch any, match Match) (policy policy.Policy, err error) {
	_, err = p.caller.do(ctx, call{
		method: http.MethodPatch, path: policyPath(businessType), body: patch, header: match.header(), once: match != 0,
	}, &policy)
	return policy, err
}

// Delete deletes a policy. remaining decides about its open timers: "cancel", "keep", or "" if
// there must be none. A repeated call may find the policy already deleted and then succeeds.
func (p Policies) Delete(ctx context.Context, businessType, remaining string) error {
	call := call{method: http.MethodDelete, path: policyPath(businessType), gone: true}
	if remaining != "" {
		call.query = url.Values{"timers": {remaining}}
	}
	_, err := p.caller.do(ctx, call, nil)
	return err
}

// PolicyVersion is one change of a policy.
type PolicyVersion struct {
	Version   int          `json:"version"`
	ChangedAt wire.Instant `json:"changed_at"`
	// ChangedBy is the name of the API key in use.
	ChangedBy string `json:"changed_by"`
	// Who describes its owner; nil if unknown.
	Who *wire.Actor `json:"who,omitempty"`
	// Deleted reports whether this change deleted the policy. Policy is nil then.
	Deleted bool `json:"deleted,omitzero"`
	// Changes are what it changed of the version before; nil if there was none, or if Temporal no longer has it.
	Changes []policy.Difference `json:"changes,omitempty"`
	Policy  *policy.Policy      `json:"policy,omitempty"`
}

// Versions returns the changes of a policy, newest first.
func (p Policies) Versions(ctx context.Context, businessType string) ([]PolicyVersion, error) {
	var answer struct{ Versions []PolicyVersion }
	_, err := p.caller.do(ctx, call{method: http.MethodGet, path: policyPath(businessType) + "/versions"}, &answer)
	return answer.Versions, err
}

// LiftBackPressure lifts the back-pressure of a type. It may be repeated.
func (p Policies) LiftBackPressure(ctx context.Context, businessType string) error {
	_, err := p.caller.do(ctx, call{method: http.MethodDelete, path: policyPath(businessType) + "/back_pressure"}, nil)
	return err
}

// Test sends one test event to a link of a business type, and returns the result. A receiver at
// fault is no error. "" is the callback. A type has one a second.
func (p Policies) Test(ctx context.Context, businessType string, link delivery.Link) (result delivery.TestResult, err error) {
	to := call{method: http.MethodPost, path: policyPath(businessType) + "/test", once: true}
	if link != "" {
		to.query = url.Values{"link": {string(link)}}
	}
	_, err = p.caller.do(ctx, to, &result)
	return result, err
}

func policyPath(businessType string) string { return policiesPath + "/" + url.PathEscape(businessType) }
