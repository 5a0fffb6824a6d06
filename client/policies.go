package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

const policiesPath = "/v1/policies"

// Policies calls what there is to do with policies.
type Policies struct{ caller *caller }

// Planned is what putting a policy would change.
type Planned struct {
	Created bool                `json:"created"`
	Changes []policy.Difference `json:"changes"`
	Policy  policy.Policy       `json:"policy"`
}

// Match is the version that a policy must have to be changed. Zero admits any version,
// and a policy that is not there. A change of one version is not repeated when its
// answer was lost: the second try would find another version. The same holds for one of
// [NoPolicy].
type Match int

// NoPolicy is the [Match] of a policy that [Policies.Put] makes, where there must be none.
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

// Get returns the policy of a business type. What is secret is masked.
func (p Policies) Get(ctx context.Context, businessType string) (policy policy.Policy, err error) {
	_, err = p.caller.do(ctx, call{method: http.MethodGet, path: policyPath(businessType)}, &policy)
	return policy, err
}

// PolicyFilter selects policies that hold their type back. Its zero value selects all.
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

// Put stores a policy, if the one that is there has the version. document is any value
// that is a policy in JSON.
func (p Policies) Put(ctx context.Context, businessType string, document any, match Match) (policy policy.Policy, err error) {
	_, err = p.caller.do(ctx, call{
		method: http.MethodPut, path: policyPath(businessType), body: document, header: match.header(), once: match != 0,
	}, &policy)
	return policy, err
}

// Plan says what [Policies.Put] would change, and changes nothing.
func (p Policies) Plan(ctx context.Context, businessType string, document any) (Planned, error) {
	return p.plan(ctx, call{method: http.MethodPut, path: policyPath(businessType), body: document})
}

// PlanPatch says what [Policies.Patch] would change, and changes nothing.
func (p Policies) PlanPatch(ctx context.Context, businessType string, patch any) (Planned, error) {
	return p.plan(ctx, call{method: http.MethodPatch, path: policyPath(businessType), body: patch})
}

func (p Policies) plan(ctx context.Context, call call) (planned Planned, err error) {
	call.query = url.Values{"dry_run": {"true"}}
	_, err = p.caller.do(ctx, call, &planned)
	return planned, err
}

// Patch edits a policy in part (RFC 7396), or makes one of the patch alone.
func (p Policies) Patch(ctx context.Context, businessType string, patch any, match Match) (policy policy.Policy, err error) {
	_, err = p.caller.do(ctx, call{
		method: http.MethodPatch, path: policyPath(businessType), body: patch, header: match.header(), once: match != 0,
	}, &policy)
	return policy, err
}

// Delete deletes a policy. remaining says what happens to its open timers: "cancel",
// "keep", or "" where there shall be none. A try of which the answer was lost may have
// deleted it, so that the next one finds none: that is no problem.
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
	// ChangedBy is the name of the API key that was used.
	ChangedBy string `json:"changed_by"`
	// Who says more of who that was; nil where nobody knows.
	Who *wire.Actor `json:"who,omitempty"`
	// Deleted reports whether this change deleted the policy. Policy is nil then.
	Deleted bool           `json:"deleted,omitzero"`
	Policy  *policy.Policy `json:"policy,omitempty"`
}

// Versions returns the changes of a policy, newest first.
func (p Policies) Versions(ctx context.Context, businessType string) ([]PolicyVersion, error) {
	var answer struct{ Versions []PolicyVersion }
	_, err := p.caller.do(ctx, call{method: http.MethodGet, path: policyPath(businessType) + "/versions"}, &answer)
	return answer.Versions, err
}

// LiftBackPressure ends the patience that receivers of a type have asked for. It may be
// repeated.
func (p Policies) LiftBackPressure(ctx context.Context, businessType string) error {
	_, err := p.caller.do(ctx, call{method: http.MethodDelete, path: policyPath(businessType) + "/back_pressure"}, nil)
	return err
}

func policyPath(businessType string) string { return policiesPath + "/" + url.PathEscape(businessType) }
