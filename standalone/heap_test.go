package main

import (
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The heap is small while little is live, and may double if much is.
func TestTheHeapIsHeld(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	require.Equal(t, int64(heapCeiling), memoryLimit(heapFloor+80<<20, 60<<20))
	require.Equal(t, int64(heapFloor+1200<<20+heapRest), memoryLimit(heapFloor+500<<20, 200<<20))
	holdHeap()()
	require.Equal(t, int64(heapCeiling), debug.SetMemoryLimit(before))
	t.Setenv("GOMEMLIMIT", "1GiB")
	holdHeap()()
	require.Equal(t, before, debug.SetMemoryLimit(-1), "whoever sets it in the environment is heard")
}

// Waiting goroutines take stacks. A limit that counts only objects cannot then be kept, and the
// collector runs without a pause.
func TestStacksAreNoReasonToCollect(t *testing.T) {
	const waiting, stack = 1000, 64 << 10
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	live, beside := heapUse()
	release, grown := make(chan struct{}), make(chan struct{})
	var left sync.WaitGroup
	defer left.Wait()
	defer close(release)
	for range waiting {
		left.Go(func() {
			deep(stack)
			grown <- struct{}{}
			<-release
		})
	}
	for range waiting {
		<-grown
	}
	_, now := heapUse()
	require.Greater(t, now, beside+waiting*stack/2, "the stacks are seen")
	require.GreaterOrEqual(t, memoryLimit(heapFloor+500<<20, now)-memoryLimit(heapFloor+500<<20, beside), int64(waiting*stack/2))
	require.GreaterOrEqual(t, memoryLimit(live, now), live+now)
}

// deep grows its stack to so many bytes.
//
//go:noinline
func deep(bytes int) (sum byte) {
	var frame [1 << 10]byte
	frame[bytes%len(frame)] = 1
	if bytes > len(frame) {
		sum = deep(bytes - len(frame))
	}
	return sum + frame[0]
}
