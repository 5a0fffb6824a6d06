package job

// The limits of jobs, each with its reason.
const (
	// MinRate and MaxRate bound how many timers one bulk job changes in a second. At the
	// slowest, a receiver that has just recovered gets one callback in ten seconds. The fastest
	// is what one worker starts. The default is meant to leave an engine on two cores room for
	// bookings and callbacks, and is not measured.
	MinRate     = 0.1
	MaxRate     = 1000
	DefaultRate = 50
	// MaxID bounds the id that a client gives a bulk job.
	MaxID = 128
)
