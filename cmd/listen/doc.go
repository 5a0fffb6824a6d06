// Package listen rings a local server for development. It connects to a running Wakecall as a
// receiver, and passes each ring on as a callback.
package listen
