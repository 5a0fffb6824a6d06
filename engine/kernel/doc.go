// Package kernel is the base of every room of the engine: one namespace of one Temporal, a
// bound on each call, and the translation of Temporal's errors into those of package wire.
// It also reads the parts of Temporal's answers that several rooms need: memos, pending
// activities and reports. A reader starts with [Kernel].
//
// [KeepReports], [KeepDelays], [RepeatUnstored] and [RefuseRepeats] are part of the connection to
// Temporal.
package kernel
