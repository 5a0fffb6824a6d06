// Package runs answers what a worker asks about a run that it delivers. A reader starts with
// [Runs].
package runs
