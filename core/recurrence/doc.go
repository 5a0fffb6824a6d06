// Package recurrence computes when a recurring timer or dispatch rings.
//
// A [Rule] is the client's text. [Rule.Check] finds its errors. A [Cursor] is a position in the
// rule, and [Rule.Next] returns the [Occurrence] after it as seen from any moment. It skips
// missed occurrences or makes up for them. Package calendar reads the expressions of a rule.
//
// A reader starts with [Rule.Next].
package recurrence
