// Package questions counts the questions that work in the background asks Temporal's visibility, and makes
// that work wait. Visibility serves few questions a second, and people wait for theirs.
//
// A reader starts with [Meter.Turn].
package questions
