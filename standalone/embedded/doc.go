// Package embedded runs Temporal inside a process: the server on SQLite files in one directory,
// and its Web UI. `make run` and the tests use it. It is the real server, not a stand-in.
package embedded
