package forecast

import "time"

// The limits of forecasts, each with its reason.
const (
	// MaxSteps bounds the steps of a forecast, each of which may be a query, and
	// MaxStep one of them.
	MaxSteps     = 1500
	MaxStep      = 30 * 24 * time.Hour
	DefaultStep  = time.Minute
	DefaultRange = 24 * time.Hour
)
