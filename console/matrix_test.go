package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
)

// rule is what a route asks of who is signed in, and a request of it for order-close.
type rule struct {
	path string
	form url.Values
	// least is the role for order-close without which it is refused; none where a page leaves out
	// what one may not see.
	least auth.Role
	// absent reports whether what is asked for is not there for who may not see it, and answers
	// whether the page itself says what was refused.
	absent, answers bool
}

// routeRules are those of all routes that ask who is there. A route without one fails the test.
func routeRules(tag url.Values) map[string]rule {
	with := func(name, value string) url.Values {
		form := url.Values{name: {value}}
		form["etag"] = tag["etag"]
		return form
	}
	return map[string]rule{
		"GET {$}":                              {path: "/console/"},
		"GET again":                            {path: "/console/again"},
		"GET timers":                           {path: "/console/timers?q=type:order-close", least: auth.Viewer},
		"GET timers/{type}/{id}":               {path: "/console/timers/order-close/1", least: auth.Viewer},
		"GET timers/{type}/{id}/payload":       {path: "/console/timers/order-close/1/payload", least: auth.Viewer},
		"GET timers/{type}/{id}/rule":          {path: "/console/timers/order-close/1/rule", least: auth.Viewer},
		"POST timers/{type}/{id}/rule":         {path: "/console/timers/order-close/1/rule", form: ruleForm(tag), least: auth.Operator},
		"POST timers/{type}/{id}/{action}":     {path: "/console/timers/order-close/1/move", form: with("delay", "5m"), least: auth.Operator},
		"POST timers/selected":                 {path: "/console/timers/selected", form: url.Values{"action": {"move"}, "delay": {"5m"}, "sure": {"yes"}, "row": {"order-close/1 1 0 msg_1"}}, answers: true, least: auth.Operator},
		"GET jobs":                             {path: "/console/jobs"},
		"POST jobs":                            {path: "/console/jobs", form: url.Values{"q": {"type:order-close"}, "operation": {"cancel"}}, least: auth.Operator},
		"GET jobs/{id}":                        {path: "/console/jobs/count", least: auth.Viewer, absent: true},
		"GET jobs/{id}/results":                {path: "/console/jobs/count/results", least: auth.Viewer, absent: true},
		"POST jobs/{id}/go":                    {path: "/console/jobs/count/go", form: url.Values{}, least: auth.Operator, absent: true},
		"POST jobs/{id}/stop":                  {path: "/console/jobs/count/stop", form: url.Values{}, least: auth.Operator, absent: true},
		"GET types/{type}":                     {path: "/console/types/order-close", least: auth.Viewer},
		"POST types/{type}/edit":               {path: "/console/types/order-close/edit", form: policyForm("priority", "4"), least: auth.Admin},
		"POST types/{type}/policy":             {path: "/console/types/order-close/policy", form: policyForm("policy", `{"callback":{"url":"https://a.example"}}`), least: auth.Admin},
		"POST types/{type}/back":               {path: "/console/types/order-close/back", form: policyForm("version", "1"), least: auth.Admin},
		"POST types/{type}/links":              {path: "/console/types/order-close/links", form: policyForm("x", ""), least: auth.Admin},
		"POST types/{type}/release":            {path: "/console/types/order-close/release", form: url.Values{}, least: auth.Admin},
		"POST types/{type}/test":               {path: "/console/types/order-close/test", form: url.Values{"link": {"callback"}}, least: auth.Operator},
		"GET dispatches":                       {path: "/console/dispatches?business_type=order-close", least: auth.Viewer},
		"GET dispatches/{type}/{id}":           {path: "/console/dispatches/order-close/d", least: auth.Viewer},
		"GET dispatches/{type}/{id}/failures":  {path: "/console/dispatches/order-close/d/failures", least: auth.Viewer},
		"POST dispatches/{type}/{id}/{action}": {path: "/console/dispatches/order-close/d/pause", form: url.Values{}, least: auth.Operator},
		"GET forecast":                         {path: "/console/forecast?type=order-close", least: auth.Viewer},
		"GET emergency":                        {path: "/console/emergency"},
		"POST emergency/{action}":              {path: "/console/emergency/pause", form: url.Values{"business_type": {"order-close"}, "note": {"fire"}}, least: auth.Operator},
		"GET health":                           {path: "/console/health"},
		"GET audit":                            {path: "/console/audit", least: auth.Admin},
		"GET types":                            {path: "/console/types"},
		"POST types/{type}/{action}":           {path: "/console/types/order-close/pause", form: url.Values{}, least: auth.Operator},
	}
}

// ruleForm changes a rule that somebody has seen the times of.
func ruleForm(tag url.Values) url.Values {
	return url.Values{"etag": tag["etag"], "sure": {"yes"}, "rule": {`{"every":"2h"}`}}
}

// policyForm changes a policy that somebody has seen the change of.
func policyForm(name, value string) url.Values {
	return url.Values{"etag": {`"1"`}, "sure": {"yes"}, name: {value}}
}

// countOf is a dry run that has found one timer.
func countOf(filter timer.Filter) bulk.Job {
	one := 1
	return bulk.Job{
		ID: "count", Status: job.Done, StartedAt: 1, Counts: job.BulkProgress{Tally: job.Tally{Found: &one}},
		Order: job.Bulk{ID: "count", Operation: job.Cancel, PerSecond: 1, DryRun: true, Filter: filter},
	}
}

// Each route, by each role, in each mode: who may not sees nothing and changes nothing, and a
// change that is refused is recorded.
func TestRolesAndRoutes(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	view := dailyOf(viewOf(timer.Scheduled))
	roles := map[string]auth.Role{"root": auth.Admin, "anna": auth.Operator, "eve": auth.Viewer, "otto": auth.NoRole, "": auth.NoRole}
	for _, mode := range []site.Mode{site.On, site.ReadOnly} {
		h := open(t, plan{keys: staff, secret: seal.NewKey(), mode: mode})
		h.shelf.views = []timer.View{view}
		h.shelf.jobs = []bulk.Job{countOf(timer.Filter{BusinessType: "order-close"})}
		h.shelf.sent = []dispatch.View{dispatchOf(dispatch.Running)}
		h.shelf.rules = []policy.Policy{withSecondLink(closing())}
		for who, role := range roles {
			h.post("/console/logout", nil)
			if who != "" {
				h.signIn(who)
			}
			for _, route := range console.Routes() {
				if !route.SignedIn {
					continue
				}
				r, ok := routeRules(tagOf(view))[route.Name]
				require.True(t, ok, "%s has no rule", route.Name)
				name := string(mode) + " " + who + " " + route.Name
				before, recorded := len(h.shelf.changes()), len(h.records())
				answer := h.get(r.path)
				if r.form != nil {
					answer = h.post(r.path, r.form)
				}
				made := len(h.shelf.changes()) - before
				records := h.records()[recorded:]
				refusal := who == "" || mode != site.On || role < r.least
				require.Equal(t, route.Changes && refusal, route.Changes && len(records) == 1 && records[0].Outcome == trail.Refused, "%s leaves one record: %v", name, records)
				if route.Changes && refusal && strings.Contains(r.path, "/order-close") {
					require.True(t, records[0].Target.Names("order-close"), name)
				}
				switch {
				case who == "":
					require.True(t, strings.HasPrefix(answer.Header.Get("Location"), "/console/login?"), name)
					require.Zero(t, made, name)
				case route.Changes && mode != site.On:
					require.Equal(t, http.StatusForbidden, answer.StatusCode, name)
					require.Zero(t, made, name)
				case role < r.least && r.answers:
					require.Equal(t, http.StatusOK, answer.StatusCode, name)
					require.Contains(t, answer.body, "Done with 0 of 1.", name)
					require.Zero(t, made, name)
				case role < r.least:
					want := http.StatusForbidden
					if r.absent && role < auth.Viewer {
						want = http.StatusNotFound
					}
					require.Equal(t, want, answer.StatusCode, name)
					require.Zero(t, made, name)
				default:
					require.Less(t, answer.StatusCode, http.StatusBadRequest, "%s: %s", name, answer.body)
					require.Equal(t, route.Changes, made > 0, name)
				}
				require.Equal(t, http.MethodPost == strings.Fields(route.Name)[0], route.Changes, "what is signed in and posts changes something")
			}
		}
		for _, record := range h.records() {
			if record.Status == http.StatusUnauthorized {
				require.Nil(t, record.Who, "no user is signed in")
				continue
			}
			require.Equal(t, "console", record.Who.Via)
		}
	}
}
