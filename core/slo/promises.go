package slo

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Promises are the on_time that timers were judged by, from the shortest to the longest. They
// differ if the policy was changed meanwhile. The zero value is that of no timers.
type Promises struct {
	Shortest wire.Duration `json:"shortest"`
	Longest  wire.Duration `json:"longest"`
}

// Promise is one on_time alone.
func Promise(onTime time.Duration) Promises {
	return Promises{Shortest: wire.Duration(onTime), Longest: wire.Duration(onTime)}
}

// And are the promises of both.
func (p Promises) And(other Promises) Promises {
	switch {
	case other == Promises{}:
		return p
	case p == Promises{}:
		return other
	default:
		return Promises{Shortest: min(p.Shortest, other.Shortest), Longest: max(p.Longest, other.Longest)}
	}
}
