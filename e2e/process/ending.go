package process

import "testing"

// Ending is how an operator ends one workflow with one of Temporal's programs.
type Ending struct {
	Program func(testing.TB) string
	Verb    string
	// Abrupt reports whether it does not even wait for an attempt in flight.
	Abrupt bool
}

// Endings lists all of them by name.
var Endings = map[string]Ending{
	"tctl cancel":        {Tctl, "cancel", false},
	"tctl terminate":     {Tctl, "terminate", true},
	"temporal cancel":    {Temporal, "cancel", false},
	"temporal terminate": {Temporal, "terminate", true},
}
