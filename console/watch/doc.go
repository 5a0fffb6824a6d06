// Package watch reads the state of the whole installation, once for all visitors, and derives the facts of the
// strip from it.
//
// Start with [Picture], and with [Watch], which makes one after the other. [NoticesOf] are the
// facts of the strip.
package watch
