package wire

import "time"

// Quota is a limit that a request ran into.
type Quota struct {
	// Name is the limit's, as the policy calls it.
	Name string
	// Limit requests may come within Window; Window is zero for a stock such
	// as the open timers.
	Limit  int
	Window time.Duration
	// RetryAfter is when it is worth another try.
	RetryAfter time.Duration
}
