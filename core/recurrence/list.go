package recurrence

import "github.com/wakecall/wakecall/core/wire"

// The lists of a rule.
var (
	ListCrons   = wire.List{Name: "crons", Most: MaxCrons, Of: "expressions"}
	ListExclude = wire.List{Name: "exclude", Most: MaxExcludes, Of: "entries"}
	ListAt      = wire.List{Name: "at", Most: MaxMoments, Of: "times"}
	ListBefore  = wire.List{Name: "before", Most: MaxMoments, Of: "times"}
)
