package forecast

import "time"

// The limits of forecasts, each with its reason.
const (
	// MaxSteps bounds the steps of a forecast, since each may need a query. MaxStep bounds the
	// length of one, which is a multiple of MinStep.
	MaxSteps     = 1500
	MinStep      = time.Second
	MaxStep      = 30 * 24 * time.Hour
	DefaultStep  = time.Minute
	DefaultRange = 24 * time.Hour
)
