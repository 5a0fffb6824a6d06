package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/seal"
)

// rule is what a route asks of who is signed in, and a request of it for order-close.
type rule struct {
	path string
	form url.Values
	// least is the role for order-close without which it is refused; none where a page leaves out
	// what one may not see.
	least auth.Role
}

// routeRules are those of all routes that ask who is there. A route without one fails the test.
func routeRules(tag url.Values) map[string]rule {
	with := func(name, value string) url.Values {
		form := url.Values{name: {value}}
		form["etag"] = tag["etag"]
		return form
	}
	return map[string]rule{
		"GET {$}":                          {path: "/console/"},
		"GET again":                        {path: "/console/again"},
		"GET timers":                       {path: "/console/timers?q=type:order-close", least: auth.Viewer},
		"GET timers/{type}/{id}":           {path: "/console/timers/order-close/1", least: auth.Viewer},
		"POST timers/{type}/{id}/{action}": {path: "/console/timers/order-close/1/move", form: with("delay", "5m"), least: auth.Operator},
		"GET types":                        {path: "/console/types"},
		"POST types/{type}/{action}":       {path: "/console/types/order-close/pause", form: url.Values{}, least: auth.Operator},
	}
}

// Each route, by each role, in each mode: who may not sees nothing and changes nothing, and a
// change that is refused is recorded.
func TestRolesAndRoutes(t *testing.T) {
	t.Parallel()
	view := viewOf(timer.Scheduled)
	roles := map[string]auth.Role{"root": auth.Admin, "anna": auth.Operator, "eve": auth.Viewer, "otto": auth.NoRole, "": auth.NoRole}
	for _, mode := range []console.Mode{console.On, console.ReadOnly} {
		h := open(t, plan{keys: staff, secret: seal.NewKey(), mode: mode})
		h.shelf.views = []timer.View{view}
		h.shelf.rules = []policy.Policy{{BusinessType: "order-close"}}
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
				before := len(h.shelf.changes())
				answer := h.get(r.path)
				if r.form != nil {
					answer = h.post(r.path, r.form)
				}
				made := len(h.shelf.changes()) - before
				switch {
				case who == "":
					require.True(t, strings.HasPrefix(answer.Header.Get("Location"), "/console/login?"), name)
					require.Zero(t, made, name)
				case route.Changes && mode != console.On, role < r.least:
					require.Equal(t, http.StatusForbidden, answer.StatusCode, name)
					require.Zero(t, made, name)
				default:
					require.Less(t, answer.StatusCode, http.StatusBadRequest, "%s: %s", name, answer.body)
					require.Equal(t, route.Changes, made > 0, name)
				}
				require.Equal(t, http.MethodPost == strings.Fields(route.Name)[0], route.Changes, "what is signed in and posts changes something")
			}
		}
		for _, record := range h.records() {
			require.Equal(t, "console", record.Who.Via)
		}
	}
}
