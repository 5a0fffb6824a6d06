package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpareProcs(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	t.Setenv("GOMAXPROCS", "7")
	addSpareProcs()
	require.Equal(t, before, runtime.GOMAXPROCS(0), "the environment decides")
	t.Setenv("GOMAXPROCS", "")
	addSpareProcs()
	require.Equal(t, before+spareProcs, runtime.GOMAXPROCS(0))
}
