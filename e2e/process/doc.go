// Package process runs the built programs as separate processes. A test can do to them what an
// operator and a power cut do: stop them, interrupt them, kill them, and start them again.
//
// The programs, including Temporal's own, are built once per test run, or taken from the path
// in a variable: WAKECALL_BIN, WAKECALL_STANDALONE_BIN, TEMPORAL_CLI, TCTL, CRANE,
// TEMPORAL_SERVER, TEMPORAL_SQL_TOOL, WAKECALL_BENCH_PEERS. No process outlives its test.
package process
