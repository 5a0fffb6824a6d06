// Package jobs orders, shows and stops work on many items, by a workflow of its own; one
// [Jobs] for each [Kind]. Package bulk has one kind. A reader starts with [Jobs.Start].
package jobs
