package console

import (
	"net/http"

	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/door"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Root is what every path of the console begins with.
const Root = "/console/"

// access is who may ask for a route.
type access uint8

const (
	// open: whoever can connect.
	open access = iota + 1
	// signedIn: who is signed in. What they may see is for the API to say.
	signedIn
	// changing: who is signed in, where the console may change something. Whether they may is
	// for the API to say.
	changing
)

// route is one path of the console. One without access does not answer.
type route struct {
	method, path string
	access       access
	do           func(*Console, *visit)
}

// table are all routes. GET never changes anything.
var table = []route{
	{http.MethodGet, "login", open, (*Console).showLogin},
	{http.MethodPost, "login", open, (*Console).login},
	{http.MethodGet, "login/provider", open, (*Console).goToProvider},
	{http.MethodGet, "login/callback", open, (*Console).comeBack},
	{http.MethodPost, "logout", open, (*Console).logout},
	{http.MethodPost, "preferences", open, (*Console).prefer},
	{http.MethodGet, "assets/{hash}/{file}", open, (*Console).asset},
	{http.MethodGet, "{$}", signedIn, (*Console).start},
	{http.MethodGet, "again", signedIn, (*Console).showAgain},
	{http.MethodGet, "timers", signedIn, (*Console).listTimers},
	{http.MethodPost, "timers/selected", changing, (*Console).changeSelected},
	{http.MethodGet, "timers/{type}/{id}", signedIn, (*Console).showTimer},
	{http.MethodPost, "timers/{type}/{id}/{action}", changing, (*Console).changeTimer},
	{http.MethodGet, "types", signedIn, (*Console).listTypes},
	{http.MethodGet, "types/{type}", signedIn, (*Console).showType},
	{http.MethodPost, "types/{type}/edit", changing, (*Console).editPolicy},
	{http.MethodPost, "types/{type}/policy", changing, (*Console).replacePolicy},
	{http.MethodPost, "types/{type}/back", changing, (*Console).putBack},
	{http.MethodPost, "types/{type}/release", changing, (*Console).letGo},
	{http.MethodPost, "types/{type}/{action}", changing, (*Console).changeType},
	{http.MethodGet, "jobs", signedIn, (*Console).listJobs},
	{http.MethodPost, "jobs", changing, (*Console).startJob},
	{http.MethodGet, "jobs/{id}", signedIn, (*Console).showJob},
	{http.MethodGet, "jobs/{id}/results", signedIn, (*Console).jobResults},
	{http.MethodPost, "jobs/{id}/go", changing, (*Console).carryOutJob},
	{http.MethodPost, "jobs/{id}/stop", changing, (*Console).stopJob},
	{http.MethodGet, "dispatches", signedIn, (*Console).listDispatches},
	{http.MethodGet, "dispatches/{type}/{id}", signedIn, (*Console).showDispatch},
	{http.MethodGet, "dispatches/{type}/{id}/failures", signedIn, (*Console).dispatchFailures},
	{http.MethodPost, "dispatches/{type}/{id}/{action}", changing, (*Console).changeDispatch},
	{http.MethodGet, "forecast", signedIn, (*Console).showForecast},
	{http.MethodGet, "emergency", signedIn, (*Console).showEmergency},
	{http.MethodPost, "emergency/{action}", changing, (*Console).changeEmergency},
	{http.MethodGet, "health", signedIn, (*Console).showHealth},
	{"", "", signedIn, (*Console).absent},
}

func (c *Console) mux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range table {
		pattern := Root + r.path
		if r.method != "" {
			pattern = r.method + " " + pattern
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, request *http.Request) { c.answer(r, c.visit(w, request)) })
	}
	mux.HandleFunc("GET /console", func(w http.ResponseWriter, request *http.Request) {
		http.Redirect(w, request, Root, http.StatusSeeOther)
	})
	return mux
}

// answer asks who is there, and refuses what no handler shall see.
func (c *Console) answer(r route, v *visit) {
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		if door.OtherOrigin(v.r) {
			c.refuse(v, http.StatusForbidden, "refused.origin")
			return
		}
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, tuning.FormBytes)
	}
	if c.Auth.AsksForKeys() && !c.private(v.r) {
		c.refuse(v, http.StatusForbidden, "refused.plain")
		return
	}
	c.recognise(v)
	switch {
	case r.access == open:
	case r.access != signedIn && r.access != changing:
		c.refuse(v, http.StatusForbidden, "refused.readonly")
		return
	case v.who == nil:
		c.askToSignIn(v)
		return
	case r.access == changing && c.Mode != On:
		c.refuse(v, http.StatusForbidden, "refused.readonly")
		return
	}
	if r.access == changing {
		c.forget(v, ofForm) // it was sent, or another one was
		defer c.watch.changed()
	}
	r.do(c, v)
}

// visit is one request, and who made it.
type visit struct {
	w http.ResponseWriter
	r *http.Request
	// who is signed in, nil for nobody. It calls the API.
	who  *auth.Principal
	lang language
	// requestID is that of the visit in the log. Its calls, some of them concurrent, have the same.
	requestID string
}

func (c *Console) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{w: w, r: r, lang: languageOf(r), requestID: w.Header().Get(headerRequestID)}
}

func (v *visit) redirect(to string) { http.Redirect(v.w, v.r, to, http.StatusSeeOther) }

func (c *Console) absent(v *visit) { c.refuse(v, http.StatusNotFound, "refused.absent") }
