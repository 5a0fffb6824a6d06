// Package jobs has the bulk jobs: a count, what it becomes once somebody has seen it, and its results.
//
// Start with [Pages.Routes].
package jobs
