// Package fault breaks things under load and proves that no promise is broken
// with them. Every run is a deployment of real processes, a seeded client, a
// receiver that writes down what it gets, and package oracle to judge.
//
// `go test` runs a short set. WAKECALL_FAULT=long runs all of it, which is what
// `make fault` does; WAKECALL_FAULT_SEED repeats a run's choices.
package fault
