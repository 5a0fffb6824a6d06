// Package netlimit bounds the connections that a process accepts, so that idle ones leave room
// for the callbacks that it makes and for Temporal.
package netlimit

import (
	"net"
	"syscall"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Listener accepts at most so many connections at once, and never more than [Connections] of
// them. Further ones wait in the kernel's queue.
func Listener(listener net.Listener, most uint64) net.Listener {
	return newLimited(listener, Connections(files(), most))
}

// Connections is how many connections may be open of a process that may open so many files:
// half of these, and most at most. The listeners of one process share its files, so that all
// but one have a small bound of their own.
func Connections(files, most uint64) int {
	return int(max(min(files/2, most), 1))
}

// files is how many files the process may open. Go raises its soft limit to the hard one as
// it starts.
func files() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 2 * tuning.MaxConnections
	}
	return limit.Cur
}
