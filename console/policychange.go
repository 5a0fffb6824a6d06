package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// difference is one value that a change changes.
type difference struct {
	Pointer string         `json:"pointer"`
	From    jsontext.Value `json:"from"`
	To      jsontext.Value `json:"to"`
}

// policyPlan shows what a change of a policy will change, before it is made.
type policyPlan struct {
	frame
	BusinessType string
	Changes      []difference
	// Fields are those of the form, to be sent again.
	Fields []field
	Back   string
	Here   string
}

// editPolicy changes what one changes at night. It shows what that is first.
func (c *typePages) editPolicy(v *visit) {
	if err := v.R.ParseForm(); err != nil {
		c.refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	c.changePolicy(v, http.MethodPatch, patchOf(v.R.PostForm))
}

// replacePolicy stores a whole policy. It shows what that changes first.
func (c *typePages) replacePolicy(v *visit) {
	body := jsontext.Value(v.R.PostFormValue("policy"))
	if !body.IsValid() {
		c.showPolicyProblem(v, &Problem{Status: http.StatusUnprocessableEntity, Title: v.lang.say("policy.nojson")})
		return
	}
	c.changePolicy(v, http.MethodPut, body)
}

// changePolicy plans a change, or makes it once somebody has seen the plan.
func (c *typePages) changePolicy(v *visit, method string, body any) {
	businessType := v.R.PathValue("type")
	made := call{method: method, path: policyPath(businessType), ifMatch: v.R.PostFormValue("etag"), body: body}
	if made.ifMatch == "" {
		c.refuse(v, http.StatusBadRequest, "refused.form")
		return
	}
	if v.R.PostFormValue("sure") != "" {
		if _, problem := c.call(v, made, nil); problem != nil {
			c.showPolicyProblem(v, problem)
			return
		}
		v.redirect(typePath(businessType) + "?done=edit")
		return
	}
	made.query = url.Values{"dry_run": {"true"}}
	var plan struct {
		Changes []difference `json:"changes"`
	}
	if _, problem := c.call(v, made, &plan); problem != nil {
		c.showPolicyProblem(v, problem)
		return
	}
	c.render(v, http.StatusOK, "plan", policyPlan{
		frame: c.frame(v, "plan.title"), BusinessType: businessType, Changes: plan.Changes, Fields: fieldsOf(v.R.PostForm),
		Here: v.R.URL.EscapedPath(), Back: typePath(businessType),
	})
}

// showPolicyProblem shows the type as it is, with why its policy was not changed.
func (c *typePages) showPolicyProblem(v *visit, problem *Problem) {
	page, unread := c.typePage(v)
	if unread != nil {
		c.refuseBy(v, problem)
		return
	}
	page.Problem = problem
	c.render(v, problem.Status, "type", page)
}

// patchOf is what a form changes. An empty limit is none. What is no number, the API refuses.
func patchOf(form url.Values) map[string]any {
	patch, limits := map[string]any{}, map[string]any{}
	for _, name := range []string{"callbacks_per_second", "in_flight"} {
		if form.Has(name) {
			limits[name] = numberOrNull(form.Get(name))
		}
	}
	if len(limits) > 0 {
		patch["limits"] = limits
	}
	if form.Has("priority") {
		patch["priority"] = numberOrNull(form.Get("priority"))
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
func (c *typePages) putBack(v *visit) {
	var known struct {
		Versions []policyVersion `json:"versions"`
	}
	if _, problem := c.call(v, call{method: http.MethodGet, path: policyPath(v.R.PathValue("type")) + "/versions"}, &known); problem != nil {
		c.showPolicyProblem(v, problem)
		return
	}
	for _, version := range known.Versions {
		if strconv.Itoa(version.Version) == v.R.PostFormValue("version") && len(version.Policy) > 0 {
			c.changePolicy(v, http.MethodPut, version.Policy)
			return
		}
	}
	c.refuse(v, http.StatusNotFound, "refused.absent")
}

// letGo ends the back-pressure of a type.
func (c *typePages) letGo(v *visit) {
	businessType := v.R.PathValue("type")
	if _, problem := c.call(v, call{method: http.MethodDelete, path: policyPath(businessType) + "/back_pressure"}, nil); problem != nil {
		c.showPolicyProblem(v, problem)
		return
	}
	v.redirect(typePath(businessType) + "?done=release")
}
