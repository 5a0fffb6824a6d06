package wire

import "time"

// Quota is a limit that a request reached.
type Quota struct {
	// Name is the policy's name for the limit.
	Name string
	// Limit is the number of requests within Window. Window is zero for a stock such as the open
	// timers.
	Limit  int
	Window time.Duration
	// RetryAfter is the wait before another try.
	RetryAfter time.Duration
}
