// Package runs answers a worker's questions about a run that it delivers. A reader starts
// with [Runs].
package runs
