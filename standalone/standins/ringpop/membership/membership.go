// Package membership has the types of a membership protocol that Temporal's server names.
package membership

// The types that Temporal names.
type (
	ChangeEvent struct{}
	Member      interface {
		GetAddress() string
		Identity() string
		Label(string) (string, bool)
	}
)
