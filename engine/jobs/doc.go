// Package jobs orders, shows and stops work on many items. Each job is a workflow, and there
// is one [Jobs] for each [Kind]. Package bulk has one kind. A reader starts with [Jobs.Start].
package jobs
