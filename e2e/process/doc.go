// Package process runs the built programs as processes of their own, so that a
// test can do to them what an operator and a power cut do: stop them, interrupt
// them, kill them, and start them again.
//
// The programs, Temporal's own among them, are built once per test run, or taken
// from where a variable says: WAKECALL_BIN, WAKECALL_STANDALONE_BIN,
// TEMPORAL_CLI, TCTL, CRANE, TEMPORAL_SERVER, TEMPORAL_SQL_TOOL. No process outlives
// its test.
package process
