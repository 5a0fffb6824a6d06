package site

import (
	"net/http"
	"time"
)

// Access is who may ask for a route.
type Access uint8

const (
	// Open is for every client that can connect.
	Open Access = iota + 1
	// SignedIn is for who is signed in. What they may see is for the API to say.
	SignedIn
	// Changing is for who is signed in, where the console may change something. Whether they may is
	// for the API to say.
	Changing
)

// Route is one path of the console. One without access does not answer.
type Route struct {
	Method, Path string
	Access       Access
	Do           func(*Visit)
	// Plain reports whether it answers over plain HTTP too, from wherever: it tells and takes nothing of any user.
	Plain bool
	// Every is how often the page is rendered anew while it is watched; 0 for a page that is not.
	Every time.Duration
	// Lists reports whether that asks Temporal's visibility.
	Lists bool
	// Draws renders the plots of the page, which change less often; nil for a page without any.
	Draws func(*Visit)
}

// Drawing is one with plots. What of it is rendered anew leaves them out.
func (r Route) Drawing(draws func(*Visit)) Route {
	r.Draws = draws
	return r
}

// Live is a page that is kept up to date.
func (r Route) Live(every time.Duration) Route {
	r.Every = every
	return r
}

// Listing is one that asks Temporal's visibility.
func (r Route) Listing() Route {
	r.Lists = true
	return r
}

// Show is a page.
func Show(path string, do func(*Visit)) Route {
	return Route{Method: http.MethodGet, Path: path, Access: SignedIn, Do: do}
}

// Change is a form that changes something.
func Change(path string, do func(*Visit)) Route {
	return Route{Method: http.MethodPost, Path: path, Access: Changing, Do: do}
}

// Public is for who has not signed in as well.
func Public(method, path string, do func(*Visit)) Route {
	return Route{Method: method, Path: path, Access: Open, Do: do}
}

// OverPlainHTTP is one that the page needs that refuses plain HTTP.
func (r Route) OverPlainHTTP() Route {
	r.Plain = true
	return r
}

// Otherwise answers what no other route does.
func Otherwise(do func(*Visit)) Route { return Route{Access: SignedIn, Do: do} }
