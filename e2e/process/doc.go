// Package process runs the built programs as processes of their own, so that a
// test can do to them what an operator and a power cut do: stop them, interrupt
// them, kill them, and start them again.
//
// The programs are built once per test run, or taken from WAKECALL_BIN and
// WAKECALL_STANDALONE_BIN. No process outlives its test.
package process
