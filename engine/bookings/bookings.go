package bookings

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/engine/holds"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Bookings holds all operations on timers.
type Bookings struct {
	*Adder
	*Changer
	*Upserter
	*Canceller
	*Pauser
	*Failures
	*Unapplied
}

// Config configures [Bookings].
type Config struct {
	Kernel   *kernel.Kernel
	Reader   *timers.Reader
	Policies *policies.Policies
	// Reach is where messages may be sent.
	Reach delivery.Reach
	// Limiter enforces the rate of a policy's bookings.
	Limiter Limiter
	// Processes tells which workers have died.
	Processes Processes
}

// New returns the Bookings of a namespace.
func New(config Config) *Bookings {
	k, reader, policies := config.Kernel, config.Reader, config.Policies
	concurrency := limiter.New(tuning.LeastBookings, tuning.BookingSlowdown)
	starter := &starter{kernel: k, policies: policies, concurrency: concurrency}
	admission := &admission{
		kernel: k, policies: policies, reach: config.Reach, limiter: config.Limiter, bursts: newBursts(), concurrency: concurrency,
	}
	unapplied := newUnapplied(holds.New(k), config.Processes)
	reader.OnTaken(unapplied.taken)
	effects, interrupter := &effects{kernel: k, reader: reader, unapplied: unapplied}, &interrupter{kernel: k, unapplied: unapplied}
	changer := &Changer{reader: reader, policies: policies, reach: config.Reach, starter: starter, effects: effects, interrupter: interrupter}
	return &Bookings{
		Adder:   &Adder{reader: reader, admission: admission, starter: starter, effects: effects, keys: &keys{kernel: k, reader: reader}},
		Changer: changer,
		Upserter: &Upserter{
			reader: reader, policies: policies, admission: admission, starter: starter, effects: effects, interrupter: interrupter, changer: changer,
		},
		Canceller: &Canceller{kernel: k, reader: reader, effects: effects, interrupter: interrupter},
		Pauser:    &Pauser{reader: reader, effects: effects, changer: changer},
		Failures:  &Failures{reader: reader, policies: policies, starter: starter},
		Unapplied: unapplied,
	}
}
