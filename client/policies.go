package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/wakecall/wakecall/timer"
)

const policiesPath = "/v1/policies"

// Policies calls what there is to do with policies.
type Policies struct{ caller *caller }

// Planned is what putting a policy would change.
type Planned struct {
	Created bool               `json:"created"`
	Changes []timer.Difference `json:"changes"`
	Policy  timer.Policy       `json:"policy"`
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
func (p Policies) Get(ctx context.Context, businessType string) (policy timer.Policy, err error) {
	_, err = p.caller.do(ctx, call{method: http.MethodGet, path: policyPath(businessType)}, &policy)
	return policy, err
}

// List returns every policy.
func (p Policies) List(ctx context.Context) ([]timer.Policy, error) {
	var answer struct{ Policies []timer.Policy }
	_, err := p.caller.do(ctx, call{method: http.MethodGet, path: policiesPath}, &answer)
	return answer.Policies, err
}

// Put stores a policy, if the one that is there has the version. document is any value
// that is a policy in JSON.
func (p Policies) Put(ctx context.Context, businessType string, document any, match Match) (policy timer.Policy, err error) {
	_, err = p.caller.do(ctx, call{
		method: http.MethodPut, path: policyPath(businessType), body: document, header: match.header(), once: match != 0,
	}, &policy)
	return policy, err
}

// Plan says what [Policies.Put] would change, and changes nothing.
func (p Policies) Plan(ctx context.Context, businessType string, document any) (planned Planned, err error) {
	_, err = p.caller.do(ctx, call{
		method: http.MethodPut, path: policyPath(businessType), body: document, query: url.Values{"dry_run": {"true"}},
	}, &planned)
	return planned, err
}

// Patch edits a policy in part (RFC 7396), or makes one of the patch alone.
func (p Policies) Patch(ctx context.Context, businessType string, patch any, match Match) (policy timer.Policy, err error) {
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

func policyPath(businessType string) string { return policiesPath + "/" + url.PathEscape(businessType) }
