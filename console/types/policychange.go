package types

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/site"
)

// policyPlan shows what a change of a policy will change, before it is made.
type policyPlan struct {
	site.Frame
	BusinessType string
	Changes      []calls.Difference
	// Fields are those of the form, to be sent again.
	Fields []site.Field
	Back   string
	Here   string
}

// noPolicy stands in a form in place of the ETag of a policy: the change is meant for a type that has none.
const noPolicy = "none"

// Meant is what a change of the policy is meant for, as a form sends it.
func (p *typePage) Meant() string { return cmp.Or(p.ETag, noPolicy) }

// editPolicy changes what one changes at night. It shows what that is first.
func (c *Pages) editPolicy(v *site.Visit) {
	if err := v.R.ParseForm(); err != nil {
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	c.changePolicy(v, calls.Call{Method: http.MethodPatch, Body: patchOf(v.R.PostForm)})
}

// replacePolicy stores a whole policy. It shows what that changes first.
func (c *Pages) replacePolicy(v *site.Visit) {
	body := jsontext.Value(v.R.PostFormValue("policy"))
	if !body.IsValid() {
		c.showPolicyProblem(v, &calls.Problem{Status: http.StatusUnprocessableEntity, Title: v.Lang.Say("policy.nojson")})
		return
	}
	c.changePolicy(v, calls.Call{Method: http.MethodPut, Body: body})
}

// changePolicy plans a change, or makes it once the user has seen the plan.
func (c *Pages) changePolicy(v *site.Visit, made calls.Call) {
	businessType := v.R.PathValue("type")
	made.Path, made.IfMatch = policyPath(businessType), v.R.PostFormValue("etag")
	if made.IfMatch == noPolicy {
		made.IfMatch, made.MustBeNew = "", true
	}
	if made.IfMatch == "" && !made.MustBeNew {
		c.Refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	if v.R.PostFormValue("sure") != "" {
		if _, problem := c.Call(v, made, nil); problem != nil {
			c.showPolicyProblem(v, problem)
			return
		}
		v.Redirect(links.TypePath(businessType) + "?done=edit")
		return
	}
	planned := url.Values{"dry_run": {"true"}}
	maps.Copy(planned, made.Query)
	made.Query = planned
	var plan struct {
		Changes []calls.Difference `json:"changes"`
	}
	if _, problem := c.Call(v, made, &plan); problem != nil {
		c.showPolicyProblem(v, problem)
		return
	}
	c.Render(v, http.StatusOK, "plan", &policyPlan{
		Frame: c.Frame(v, "plan.title"), BusinessType: businessType, Changes: plan.Changes, Fields: site.FieldsOf(v.R.PostForm),
		Here: v.R.URL.EscapedPath(), Back: links.TypePath(businessType),
	})
}

// showPolicyProblem shows the type as it is, with why its policy was not changed.
func (c *Pages) showPolicyProblem(v *site.Visit, problem *calls.Problem) {
	page, unread := c.typePage(v)
	if unread != nil {
		c.RefuseBy(v, problem)
		return
	}
	if page.Problem = problem; page.Changed() {
		page.Meanwhile = versionsSince(page.Versions, page.Typed.Get("etag"))
		page.forgetUntouched()
	}
	c.Render(v, problem.Status, "type", page)
}

// forgetUntouched drops what stood in the form before the user typed. A form sends all its fields: those that
// the user left alone would undo what was changed meanwhile.
func (p *typePage) forgetUntouched() {
	seen := strings.Trim(p.Typed.Get("etag"), `"`)
	for _, version := range p.Versions {
		var shown calls.Policy
		if strconv.Itoa(version.Version) != seen || version.Deleted || json.Unmarshal(version.Policy, &shown) != nil {
			continue
		}
		for _, name := range edited {
			if p.Typed.Get(name) == entryOf(&shown, name) {
				p.Typed.Del(name)
			}
		}
	}
}

// Entry is what stands in a field of the form of an edit: what was typed there, if it was refused, else what
// the policy has.
func (p *typePage) Entry(name string) string {
	if p.Typed.Has(name) {
		return p.Typed.Get(name)
	}
	return entryOf(&p.Row.Policy, name)
}

// edited are the fields of the form of an edit.
var edited = []string{"callbacks_per_second", "in_flight", "priority", "url", "paused"}

// entryOf is what a field of the form of an edit has for a policy.
func entryOf(policy *calls.Policy, name string) string {
	switch name {
	case "callbacks_per_second":
		return policy.Rate()
	case "in_flight":
		if policy.Limits.InFlight == 0 { // for no limit
			return ""
		}
		return strconv.Itoa(policy.Limits.InFlight)
	case "priority":
		return strconv.Itoa(policy.Priority)
	case "url":
		return policy.Callback.URL
	default:
		return strconv.FormatBool(policy.Paused)
	}
}

// patchOf is what a form changes. An empty limit is none. What is no number, the API refuses.
func patchOf(form url.Values) map[string]any {
	patch, limits := map[string]any{}, map[string]any{}
	for _, name := range []string{"callbacks_per_second", "in_flight"} {
		if form.Has(name) {
			limits[name] = site.NumberOrNull(form.Get(name))
		}
	}
	if len(limits) > 0 {
		patch["limits"] = limits
	}
	if form.Has("priority") {
		patch["priority"] = site.NumberOrNull(form.Get("priority"))
	}
	if address := strings.TrimSpace(form.Get("url")); address != "" {
		patch["callback"] = map[string]any{"url": address}
	}
	if form.Has("paused") {
		patch["paused"] = form.Get("paused") == "true"
	}
	return patch
}

// putBack plans the policy as it was in an earlier version.
func (c *Pages) putBack(v *site.Visit) {
	versions, problem := c.versionsOf(v, v.R.PathValue("type"))
	if problem != nil {
		c.refuseReading(v, problem)
		return
	}
	for _, version := range versions {
		if strconv.Itoa(version.Version) == v.R.PostFormValue("version") && len(version.Policy) > 0 {
			keep := url.Values{"keep_from": {strconv.Itoa(version.Version)}}
			c.changePolicy(v, calls.Call{Method: http.MethodPut, Body: version.Policy, Query: keep})
			return
		}
	}
	c.Refuse(v, http.StatusNotFound, "refused.absent")
}

// refuseReading refuses a change for which a policy could not be read. Who may not read it may not change
// it either: the API refuses that, whatever the policy is to be, and records it.
func (c *Pages) refuseReading(v *site.Visit, problem *calls.Problem) {
	if problem.Status == http.StatusForbidden {
		c.changePolicy(v, calls.Call{Method: http.MethodPut, Body: struct{}{}})
		return
	}
	c.showPolicyProblem(v, problem)
}

// swapLinks plans that the two links of a policy change places.
func (c *Pages) swapLinks(v *site.Visit) {
	var stored map[string]jsontext.Value
	if _, problem := c.Call(v, calls.Get(policyPath(v.R.PathValue("type"))), &stored); problem != nil {
		c.refuseReading(v, problem)
		return
	}
	swapped, err := swap(stored)
	if err != nil {
		c.Refuse(v, http.StatusConflict, "refused.form")
		return
	}
	c.changePolicy(v, calls.Call{Method: http.MethodPut, Body: swapped})
}

// swap returns a policy whose callback is the fallback, and the other way around. How long the callback
// must fail stays as it is. What Wakecall declares is the callback's, and left out.
func swap(policy map[string]jsontext.Value) (map[string]jsontext.Value, error) {
	var first, second map[string]jsontext.Value
	if err := errors.Join(json.Unmarshal(policy["callback"], &first), json.Unmarshal(policy["fallback"], &second)); err != nil {
		return nil, err
	}
	const after = "after"
	first[after] = second[after]
	delete(second, after)
	callback, err := json.Marshal(second)
	if err != nil {
		return nil, err
	}
	fallback, err := json.Marshal(first)
	policy["callback"], policy["fallback"] = callback, fallback
	delete(policy, "declare")
	return policy, err
}

// liftBackPressure ends the back-pressure of a type at once.
func (c *Pages) liftBackPressure(v *site.Visit) {
	businessType := v.R.PathValue("type")
	if _, problem := c.Call(v, calls.Call{Method: http.MethodDelete, Path: policyPath(businessType) + "/back_pressure"}, nil); problem != nil {
		c.showPolicyProblem(v, problem)
		return
	}
	v.Redirect(links.TypePath(businessType) + "?done=release")
}
