package job

// The limits of jobs, each with its reason.
const (
	// MinRedeliveryRate and MaxRedeliveryRate bound how many failed timers one
	// redelivery starts in a second. The fastest is what one worker starts one
	// after the other; the slowest lets a stop be noticed within seconds.
	MinRedeliveryRate     = 0.1
	MaxRedeliveryRate     = 1000
	DefaultRedeliveryRate = 10
	// MinRate and MaxRate bound how many timers one bulk job changes in a second.
	// The slowest gets through a million of them in less than a fortnight, for longer than
	// which nobody waits; the fastest is that of a redelivery. The default was chosen to leave
	// an engine on two cores room for bookings and callbacks, and is not measured.
	MinRate     = 1
	MaxRate     = 1000
	DefaultRate = 50
	// MaxID bounds the id that a client gives a bulk job.
	MaxID = 128
)
