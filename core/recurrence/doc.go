// Package recurrence says when a recurring timer or dispatch rings.
//
// A [Rule] is what a client writes. [Rule.Check] says what is wrong with it. A [Cursor] is how
// far the rule has come, and [Rule.Next] the [Occurrence] that rings next as seen from any
// moment, with the missed ones skipped or made up for. Package calendar reads the expressions
// of a rule.
//
// A reader starts with [Rule.Next].
package recurrence
