package console

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
	do           func(*visit)
}
