package process

import "testing"

// Ending is how an operator ends one workflow with one of Temporal's programs.
type Ending struct {
	Program func(testing.TB) string
	Verb    string
	// Abrupt reports whether not even an attempt in flight is waited for.
	Abrupt bool
}

// Endings are all of them.
var Endings = map[string]Ending{
	"tctl cancel":        {Tctl, "cancel", false},
	"tctl terminate":     {Tctl, "terminate", true},
	"temporal cancel":    {Temporal, "cancel", false},
	"temporal terminate": {Temporal, "terminate", true},
}
