// Package dispatch measures what dispatches promise, at the receiver: how flat their rate
// is while workers come and are killed, how many items a second leave, what that costs
// Temporal, and that after a crash no item is missing. The measurements are benchmarks,
// which run when they are asked for (make dispatch); the oracles are tested with every run.
package dispatch
