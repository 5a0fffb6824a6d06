// Package listen rings a local server for development: it connects to a running Wakecall as
// a receiver, and passes each ring on as the callback that it would be.
package listen
