// Package words has every word of the pages, in each language that they speak, and says numbers,
// times and texts on one of them.
//
// Start with [Speech].
package words
