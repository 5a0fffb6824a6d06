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
	// heapFloor is counted as live memory by the garbage collector, is never touched and
	// so takes none: the collector comes when twice as much is in use, and not every two
	// seconds while timers ring.
	heapFloor = 256 << 20
	// heapCeiling is what the Go runtime may take at most, the floor included, while not
	// much is live: with the program and SQLite the process stays below 512 MB.
	heapCeiling = heapFloor + 350<<20
	// heapRest is for what is allocated until the next look.
	heapRest = 50 << 20
	// heapLook is the time between two looks at what is live.
	heapLook = time.Second
)

// holdHeap keeps the heap within its bounds until it is told to let go.
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

// heapUse is what the last collection left, the floor included, and what the runtime has
// now that is neither an object nor free: the stacks of whatever waits in memory above all,
// and the gaps that objects have left.
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

// memoryLimit is the limit that the collector keeps to. Where much is live it comes when
// that has doubled, and not all the time: a limit that cannot be kept makes it take both
// cores, for as long as it is there.
func memoryLimit(live, beside int64) int64 {
	return max(heapCeiling, heapFloor+2*(live-heapFloor)+beside+heapRest)
}
