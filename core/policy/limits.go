package policy

import "time"

// The limits of policies, each with its reason.
const (
	// MaxPEM bounds each text of a policy's TLS: a chain has room, a bundle of all
	// public roots has not.
	MaxPEM = 16 << 10

	// MinPriority is the most urgent, MaxPriority the least (Temporal's scale).
	MinPriority     = 1
	MaxPriority     = 5
	DefaultPriority = 3

	// MaxSigners is how many secrets may sign at once, retired ones included. Each
	// Estimate 48 bytes of one header, which common servers bound at 4 KB.
	MaxSigners = 20
	// MaxSecrets is how many signing secrets may be valid at once.
	MaxSecrets = 3
	// MinSecretBytes and MaxSecretBytes are those of Standard Webhooks 1.0.0.
	MinSecretBytes = 24
	MaxSecretBytes = 64
	// DefaultSecretOverlap is how long a replaced secret goes on signing: long
	// enough to roll every receiver. MaxSecretOverlap bounds it.
	DefaultSecretOverlap = 24 * time.Hour
	MaxSecretOverlap     = 30 * 24 * time.Hour

	// MinRate and MaxRate bound a rate that is not 0, in events per second. The
	// slowest is one in about 17 minutes; the fastest is what Temporal takes
	// for "no limit".
	MinRate = 0.001
	MaxRate = 100_000
	// DefaultInFlight is how many attempts of one business type may be under way at
	// once in one worker: a receiver that hangs occupies no more, and the attempts of
	// other types do not wait for it.
	DefaultInFlight = 200
	MaxInFlight     = 1000
	MaxPending      = 1_000_000_000

	// DefaultPreload is how long before its due time a timer is handed to a worker,
	// which keeps it in memory: Temporal's work is then done when the timer rings.
	// MaxPreload bounds it, because a workflow task may take two minutes in all.
	DefaultPreload = 2 * time.Second
	MinPreload     = 10 * time.Millisecond
	MaxPreload     = time.Minute
	// MaxEmergencyTypes is how many business types one call pauses or resumes.
	MaxEmergencyTypes = 100
)
