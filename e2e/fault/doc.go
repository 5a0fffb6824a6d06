// Package fault breaks things under load and proves that all promises hold. Every run has a
// deployment of real processes, a seeded client, a receiver that records its calls, and
// package oracle as the judge.
//
// `go test` runs a short set. WAKECALL_FAULT=long runs all of it, as `make fault` does;
// WAKECALL_FAULT_SEED repeats a run's choices.
package fault
