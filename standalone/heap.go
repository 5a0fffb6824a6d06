package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The bounds of the heap, in bytes (docs/decisions/0011-heap-floor.md).
const (
	// heapFloor counts as live memory for the garbage collector, but is never touched and so
	// takes none. The collector then runs when twice as much is in use, and not every two
	// seconds while timers ring.
	heapFloor = 256 << 20
	// heapCeiling bounds the memory of the Go runtime, including the floor, while little is
	// live. With the program and SQLite the process then stays below 512 MB.
	heapCeiling = heapFloor + 350<<20
	// heapRest is for allocations until the next check.
	heapRest = 50 << 20
	// heapLook is the interval of checks of live memory.
	heapLook = time.Second
)

// holdHeap keeps the heap within its bounds until letGo is called.
func holdHeap() (letGo func()) {
	floor := make([]byte, heapFloor)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		_, said := os.LookupEnv("GOMEMLIMIT")
		for look := time.NewTicker(heapLook); !said; {
			debug.SetMemoryLimit(memoryLimit(heapUse()))
			select {
			case <-look.C:
			case <-stop:
				look.Stop()
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		runtime.KeepAlive(floor)
	}
}

// heapUse returns the live memory after the last collection, including the floor, and the
// runtime's other memory that is neither an object nor free: mostly stacks, and gaps between
// objects.
func heapUse() (live, beside int64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	beside = int64(samples[1].Value.Uint64())
	for _, sample := range samples[2:] {
		beside -= int64(sample.Value.Uint64())
	}
	return int64(samples[0].Value.Uint64()), beside
}

// memoryLimit returns the limit of the collector. If much is live it runs when that has doubled,
// but not constantly: a limit that cannot be kept would make it use both cores.
func memoryLimit(live, beside int64) int64 {
	return max(heapCeiling, heapFloor+2*(live-heapFloor)+beside+heapRest)
}
