// Package job has the rules of jobs: work on many timers, ordered once, and carried out page by
// page at a bounded rate by any worker.
//
// [Bulk] cancels, moves, edits, fires or redelivers all timers that match a filter. A [Tally]
// counts the outcomes. A [Position] is the point from which another worker resumes.
//
// A reader starts with [Bulk.Check].
package job
