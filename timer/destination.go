package timer

import "strings"

// Destination is where messages go, stored and shown among the fields of what has
// one. Two of them lead to the same receiver exactly when they are equal.
type Destination struct {
	URL string `json:"url,omitzero"`
}

// DestinationKind says which transport a destination is reached by.
type DestinationKind string

// The closed list of kinds.
const (
	// NoDestination: it leads nowhere.
	NoDestination   DestinationKind = ""
	DestinationHTTP DestinationKind = "http"
)

// HTTP is the destination that a URL names.
func HTTP(url string) Destination { return Destination{URL: url} }

// Addressed is whether d leads anywhere.
func (d Destination) Addressed() bool { return d != Destination{} }

// Kind is the transport's.
func (d Destination) Kind() DestinationKind {
	if d.URL != "" {
		return DestinationHTTP
	}
	return NoDestination
}

// Check returns what is wrong with the destination. One that is left out is in order.
func (d Destination) Check() (errs FieldErrors) {
	if d.URL == "" {
		return nil
	}
	if why := checkURL(d.URL); why != "" {
		errs.Add("/url", CodeInvalidURL, why)
	}
	return errs
}

// Target is d as it may be shown: a URL without its query, in which some carry a
// secret. User information is refused in any case.
func (d Destination) Target() string {
	target, _, _ := strings.Cut(d.URL, "?")
	return target
}

// sameOrigin reports whether what was given to the one may be given to the other:
// both URLs have the same scheme, host and port.
func (d Destination) sameOrigin(other Destination) bool { return sameOrigin(d.URL, other.URL) }
