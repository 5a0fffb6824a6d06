package console

import (
	"net/http"
	"slices"

	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/tuning"
)

// routesOf are all routes of a site. GET never changes anything.
func routesOf(c *Site) []route {
	return slices.Concat(
		(&signInPages{c}).routes(), siteRoutes(c), (&timerPages{c}).routes(), (&typePages{c}).routes(), (&jobPages{c}).routes(),
		(&dispatchPages{c}).routes(), (&forecastPages{c}).routes(), (&operationPages{c}).routes(),
	)
}

// siteRoutes are those of no feature.
func siteRoutes(c *Site) []route {
	return []route{
		{http.MethodPost, "preferences", open, c.prefer},
		{http.MethodGet, "assets/{hash}/{file}", open, c.asset},
		{"", "", signedIn, c.absent},
	}
}

func (c *Console) mux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range routesOf(&c.site) {
		pattern := Root + r.path
		if r.method != "" {
			pattern = r.method + " " + pattern
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, request *http.Request) { c.answer(r, newVisit(w, request)) })
	}
	mux.HandleFunc("GET /console", func(w http.ResponseWriter, request *http.Request) {
		http.Redirect(w, request, Root, http.StatusSeeOther)
	})
	return mux
}

// answer asks who is there, and refuses what no handler shall see.
func (c *Console) answer(r route, v *visit) {
	s := &c.site
	if v.R.Method != http.MethodGet && v.R.Method != http.MethodHead {
		if door.OtherOrigin(v.R) {
			s.refuse(v, http.StatusForbidden, "refused.origin")
			return
		}
		v.R.Body = http.MaxBytesReader(v.W, v.R.Body, tuning.FormBytes)
	}
	if s.Sessions.Auth.AsksForKeys() && !s.Sessions.private(v.R) {
		s.refuse(v, http.StatusForbidden, "refused.plain")
		return
	}
	v.who = s.Sessions.recognise(v.Exchange)
	switch {
	case r.access == open:
	case r.access != signedIn && r.access != changing:
		s.refuse(v, http.StatusForbidden, "refused.readonly")
		return
	case v.who == nil:
		(&signInPages{s}).askToSignIn(v)
		return
	case r.access == changing && s.Mode != On:
		s.refuse(v, http.StatusForbidden, "refused.readonly")
		return
	}
	if r.access == changing {
		s.Sessions.forget(v.Exchange, ofForm) // it was sent, or another one was
		defer s.Watch.changed()
	}
	r.do(v)
}
