package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// The heap is small while little is live, and free to double where much is.
func TestTheHeapIsHeld(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	require.Equal(t, int64(heapCeiling), memoryLimit(heapFloor+80<<20))
	require.Equal(t, int64(heapFloor+1000<<20+heapRest), memoryLimit(heapFloor+500<<20))
	holdHeap()()
	require.Equal(t, memoryLimit(liveHeap()), debug.SetMemoryLimit(before))
	t.Setenv("GOMEMLIMIT", "1GiB")
	holdHeap()()
	require.Equal(t, before, debug.SetMemoryLimit(-1), "whoever sets it in the environment is heard")
}
