// Package embedded runs Temporal inside a process: the server on SQLite files
// in one directory, and its Web UI. It is what `make run` and the tests run
// on; nothing in it is a stand-in.
package embedded
