package main

import (
	"os"
	"runtime"
)

// spareProcs is how many more goroutines may run at once than there are processors.
//
// Go looks at a timer when one of its processors (P) is free, or after ten milliseconds, when it
// interrupts a goroutine. Temporal, SQLite and the garbage collector compute in this process, and
// two processors are often all taken. With more of them one is nearly always free. Its thread then
// sleeps in the kernel until the next timer, and the kernel runs it at once
// (docs/performance-data.md#the-slowest-one-in-a-hundred).
const spareProcs = 2

// addSpareProcs leaves room for rings beside what computes, unless GOMAXPROCS says how much there
// is. Go then no longer follows a change of the container's limit.
func addSpareProcs() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareProcs)
	}
}
