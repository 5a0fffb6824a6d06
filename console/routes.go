package console

import (
	"net/http"
	"slices"

	"github.com/wakecall/wakecall/console/dispatches"
	"github.com/wakecall/wakecall/console/forecasts"
	"github.com/wakecall/wakecall/console/jobs"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/operations"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/console/timers"
	"github.com/wakecall/wakecall/console/types"
	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/tuning"
)

// routesOf are all routes of a site. GET never changes anything.
func routesOf(c *site.Site) []site.Route {
	return slices.Concat(
		(&signInPages{c}).routes(), siteRoutes(c),
		(&timers.Pages{Site: c}).Routes(), (&types.Pages{Site: c}).Routes(),
		(&jobs.Pages{Site: c}).Routes(), (&dispatches.Pages{Site: c}).Routes(),
		(&forecasts.Pages{Site: c}).Routes(), (&operations.Pages{Site: c}).Routes(),
	)
}

// siteRoutes returns the routes that belong to no feature.
func siteRoutes(c *site.Site) []site.Route {
	return []site.Route{
		site.Public(http.MethodPost, "preferences", c.Prefer),
		site.Public(http.MethodGet, "assets/{hash}/{file}", c.Asset).OverPlainHTTP(),
		site.Otherwise(c.Absent),
	}
}

// waysBack returns a route for each address that only takes a form. An answer may stand at such an address. The
// browser asks for it by GET once its tab is restored. That leads to the page of the form, and changes nothing.
func waysBack(all []site.Route) (back []site.Route) {
	shown := map[string]bool{}
	for _, r := range all {
		shown[r.Path] = shown[r.Path] || r.Method == http.MethodGet
	}
	for _, r := range all {
		if r.Method == http.MethodPost && !shown[r.Path] {
			back = append(back, site.Show(r.Path, func(v *site.Visit) { v.Redirect(links.Parent(v.R.URL.EscapedPath())) }))
		}
	}
	return back
}

func (c *Console) mux(all []site.Route) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range slices.Concat(all, waysBack(all), []site.Route{site.Public(http.MethodGet, "live", c.follow)}) {
		pattern := links.Root + r.Path
		if r.Method != "" {
			pattern = r.Method + " " + pattern
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, request *http.Request) { c.answer(r, site.NewVisit(w, request)) })
	}
	mux.HandleFunc("GET /console", func(w http.ResponseWriter, request *http.Request) {
		http.Redirect(w, request, links.Root, http.StatusSeeOther)
	})
	return mux
}

// answer calls the handler of a route, unless the request must be refused before.
func (c *Console) answer(r site.Route, v *site.Visit) {
	if v.R.Method != http.MethodGet && v.R.Method != http.MethodHead {
		v.R.Body = http.MaxBytesReader(v.W, v.R.Body, tuning.FormBytes)
		if r.Access == site.Changing {
			defer c.site.DescribeForm(v, r)
		}
		if door.OtherOrigin(v.R) {
			c.site.Refuse(v, http.StatusForbidden, "refused.origin")
			return
		}
	}
	if r.Plain {
		r.Do(v)
		return
	}
	if !c.admit(r, v) {
		return
	}
	if r.Access == site.Changing {
		c.site.Sessions.Forget(v.Exchange, sessions.OfForm) // it was sent, or another one was
		defer c.site.Watch.Changed()
	}
	r.Do(v)
}

// admit identifies the visitor. It refuses those who may not ask for the route, and then returns false.
func (c *Console) admit(r site.Route, v *site.Visit) bool {
	s := &c.site
	if s.Sessions.Auth.AsksForKeys() && !s.Sessions.Private(v.R) {
		s.RefusePlain(v)
		return false
	}
	v.Live = r.Every > 0
	if v.ByScript() { // no user did that, so it does not renew the session
		v.Who = s.Sessions.Known(v.Exchange)
	} else {
		v.Who = s.Sessions.Recognise(v.Exchange)
	}
	switch {
	case r.Access == site.Open:
		return true
	case r.Access != site.SignedIn && r.Access != site.Changing:
		s.Refuse(v, http.StatusForbidden, "refused.readonly")
	case v.Who == nil:
		(&signInPages{s}).askToSignIn(v)
	case r.Access == site.Changing && s.Mode != site.On:
		s.Refuse(v, http.StatusForbidden, "refused.readonly")
	default:
		return true
	}
	return false
}
