package calls

import "time"

// Forecast is what falls due in the time ahead.
type Forecast struct {
	CountedAt          time.Time `json:"counted_at"`
	CallbacksPerSecond *float64  `json:"callbacks_per_second"`
	Overdue            int       `json:"overdue"`
	Steps              []Step    `json:"steps"`
}

// Step is one step of a forecast.
type Step struct {
	At            time.Time `json:"at"`
	Due           int       `json:"due"`
	DispatchItems int       `json:"dispatch_items"`
	Overflows     bool      `json:"overflows"`
	Lateness      string    `json:"lateness"`
}
