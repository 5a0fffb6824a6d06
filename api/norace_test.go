//go:build !race

package api

// raced reports whether the race detector watches.
const raced = false
