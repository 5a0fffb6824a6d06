package delivery

import "github.com/wakecall/wakecall/core/wire"

// The lists of callbacks and retry ladders.
var (
	ListSteps   = wire.List{Name: "steps", Most: MaxAttempts - 1, Of: "steps"}
	ListHeaders = wire.List{Name: "headers", Most: MaxHeaders, Of: "headers"}
)
