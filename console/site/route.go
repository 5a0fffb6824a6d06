package site

import "net/http"

// Access is who may ask for a route.
type Access uint8

const (
	// Open is for whoever can connect.
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
}

// Show is a page.
func Show(path string, do func(*Visit)) Route { return Route{http.MethodGet, path, SignedIn, do} }

// Change is a form that changes something.
func Change(path string, do func(*Visit)) Route { return Route{http.MethodPost, path, Changing, do} }

// Public is for who has not signed in as well.
func Public(method, path string, do func(*Visit)) Route { return Route{method, path, Open, do} }

// Otherwise answers what no other route does.
func Otherwise(do func(*Visit)) Route { return Route{Access: SignedIn, Do: do} }
