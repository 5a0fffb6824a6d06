package tuning

import "time"

// Calls of Temporal.
const (
	// CallTimeout bounds one call to Temporal, the SDK's own retries included. The SDK
	// gives a single try half of it: after five seconds without a word the caller is
	// told that the outcome is unknown.
	CallTimeout = 10 * time.Second
)

// Policies.
const (
	// MinPolicyInterval is the least time between two listings of all policies by one
	// worker: each reads all of them.
	MinPolicyInterval = time.Second
)

// The reconciler.
const (
	// UnreadableLogged is how many timers one round names that it could not read.
	UnreadableLogged = 10
)
