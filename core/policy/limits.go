package policy

import "time"

// The limits of policies, each with its reason.
const (
	// MaxPEM bounds each text of a policy's TLS, in bytes. A chain fits, a bundle of all public
	// roots does not.
	MaxPEM = 16 << 10

	// MinPriority is the most urgent and MaxPriority the least (Temporal's scale).
	MinPriority     = 1
	MaxPriority     = 5
	DefaultPriority = 3

	// MaxSigners is how many secrets may sign at once, including retired ones. Each takes 48
	// bytes of one header. Common servers bound a header at 4 KB.
	MaxSigners = 20
	// MaxSecrets is how many signing secrets may be valid at once.
	MaxSecrets = 3
	// MinSecretBytes and MaxSecretBytes are the bounds of Standard Webhooks 1.0.0.
	MinSecretBytes = 24
	MaxSecretBytes = 64
	// DefaultSecretOverlap is how long a replaced secret goes on signing: long enough to update
	// every receiver. MaxSecretOverlap bounds it.
	DefaultSecretOverlap = 24 * time.Hour
	MaxSecretOverlap     = 30 * 24 * time.Hour

	// MinRate and MaxRate bound a rate other than 0, in events per second. The slowest is one in
	// about 17 minutes. Temporal takes the fastest for "no limit".
	MinRate = 0.001
	MaxRate = 100_000
	// DefaultInFlight is how many attempts of one business type may run at once in one worker. A
	// receiver that hangs occupies no more, and the attempts of other types do not wait for it.
	DefaultInFlight = 200
	MaxInFlight     = 1000
	MaxPending      = 1_000_000_000

	// DefaultOnTime is how late a first attempt may be and still be on time. Clocks cannot resolve
	// less than MinOnTime, and more than MaxOnTime promises nothing.
	DefaultOnTime = time.Second
	MinOnTime     = time.Millisecond
	MaxOnTime     = time.Hour
	// DefaultPreload is how long before its due time a worker gets a timer to hold in memory.
	// Temporal's work is then done when the timer rings. MaxPreload bounds it, because a
	// workflow task may take two minutes in all.
	DefaultPreload = 2 * time.Second
	MinPreload     = 10 * time.Millisecond
	MaxPreload     = time.Minute
	// MaxEmergencyTypes is how many business types one call may pause or resume.
	MaxEmergencyTypes = 100
)
