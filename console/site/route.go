package site

import (
	"net/http"
	"time"
)

// Access says which clients may ask for a route.
type Access uint8

const (
	// Open is for every client that can connect.
	Open Access = iota + 1
	// SignedIn is for users that are signed in. The API decides what they may see.
	SignedIn
	// Changing is for users that are signed in, if the console is not read-only. The API decides what they may
	// change.
	Changing
)

// Route is one path of the console. One without access does not answer.
type Route struct {
	Method, Path string
	Access       Access
	Do           func(*Visit)
	// Plain reports whether it answers over plain HTTP too, to any client: it shows and takes no data of users.
	Plain bool
	// Every is how often the page is rendered while it is open; 0 for a page that is not live.
	Every time.Duration
	// Lists reports whether the page asks Temporal's visibility.
	Lists bool
	// Draws renders the plots of the page, which change less often; nil for a page without any.
	Draws func(*Visit)
}

// Drawing returns the route of a page with plots. Its updates leave the plots out.
func (r Route) Drawing(draws func(*Visit)) Route {
	r.Draws = draws
	return r
}

// Live returns the route of a page that is kept up to date.
func (r Route) Live(every time.Duration) Route {
	r.Every = every
	return r
}

// Listing returns the route of a page that asks Temporal's visibility.
func (r Route) Listing() Route {
	r.Lists = true
	return r
}

// Show returns the route of a page.
func Show(path string, do func(*Visit)) Route {
	return Route{Method: http.MethodGet, Path: path, Access: SignedIn, Do: do}
}

// Change returns the route of a form that changes something.
func Change(path string, do func(*Visit)) Route {
	return Route{Method: http.MethodPost, Path: path, Access: Changing, Do: do}
}

// Public returns a route that needs no sign-in.
func Public(method, path string, do func(*Visit)) Route {
	return Route{Method: method, Path: path, Access: Open, Do: do}
}

// OverPlainHTTP returns the route of a file that the refusal of plain HTTP needs.
func (r Route) OverPlainHTTP() Route {
	r.Plain = true
	return r
}

// Otherwise returns the route of all other paths.
func Otherwise(do func(*Visit)) Route { return Route{Access: SignedIn, Do: do} }
