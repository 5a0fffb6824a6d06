// Package kernel is what every room of the engine stands on: one namespace of one Temporal, a
// bound on each call, and the translation of Temporal's errors into those of package timer.
// It also has what several rooms read in Temporal's answers: memos, pending activities and
// reports. A reader starts with [Kernel].
//
// [KeepReports] and [RepeatUnstored] are part of the connection to Temporal.
package kernel
