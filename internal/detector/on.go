//go:build race

package detector

// Watches reports whether the race detector watches.
const Watches = true
