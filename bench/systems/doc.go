// Package systems holds the measured systems: Wakecall, bare Temporal loops, and comparable job
// queues. Each is set up as its own documentation advises. [New] makes them by their names.
//
// It imports a whole Temporal. What measures a system knows only package subject, so that its own
// tests are linked without one.
package systems

import "github.com/wakecall/wakecall/bench/subject"

// The words of the interface, for the systems.
type (
	// Subject is a system.
	Subject = subject.Subject
	// Timer is a timer to book.
	Timer = subject.Timer
	// Counters are those of a system's store.
	Counters = subject.Counters
	// Trail is what Temporal wrote about a timer.
	Trail = subject.Trail
	// Queue is where the rings of a system are messages.
	Queue = subject.Queue
	// Answer is what a change is answered with.
	Answer = subject.Answer
	// Recurred is what Temporal wrote for recurring timers.
	Recurred = subject.Recurred
)
