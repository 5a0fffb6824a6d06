// Package dispatch measures the promises of dispatches, at the receiver: how flat their rate
// is while workers come and are killed, how many items a second leave, what that costs
// Temporal, and that no item is missing after a crash. The measurements are benchmarks, run
// by make dispatch. Every test run tests the oracles.
package dispatch
