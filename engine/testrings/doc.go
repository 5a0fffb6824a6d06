// Package testrings sends test events to the receivers of a business type, for a caller who waits for
// the answer.
//
// Start with [TestRings.Ring].
package testrings
