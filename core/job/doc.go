// Package job has the rules of jobs: work on many timers, ordered once, and carried out page
// by page at a bounded rate by whichever worker is there.
//
// [Bulk] cancels, moves, edits, fires or redelivers all timers that a filter finds. A [Tally]
// counts what became of the items of a job, and a [Position] is where another worker goes on.
//
// A reader starts with [Bulk.Check].
package job
