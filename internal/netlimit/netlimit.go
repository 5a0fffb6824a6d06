// Package netlimit bounds the connections that a process accepts. Idle ones then leave room for
// callbacks and for Temporal.
package netlimit

import (
	"net"
	"syscall"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Listener returns a listener that accepts up to most connections at once, and never more than
// [Connections] of them. Further ones wait in the kernel's queue.
func Listener(listener net.Listener, most uint64) net.Listener {
	return newLimited(listener, Connections(files(), most))
}

// Connections returns how many connections a process with so many files may have open: half of
// the files, up to most. The listeners of one process share its files, so all but one need a
// small bound.
func Connections(files, most uint64) int {
	return int(max(min(files/2, most), 1))
}

// files returns how many files the process may open. Go raises its soft limit to the hard one at
// the start.
func files() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 2 * tuning.MaxConnections
	}
	return limit.Cur
}
