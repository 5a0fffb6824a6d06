//go:build race

package api

// slower is by how much the race detector slows a process down.
const slower = 15
