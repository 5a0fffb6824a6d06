// Package watch looks at the whole installation, once for all who look, and says what is grave
// about it.
//
// Start with [Picture], and with [Watch], which makes one after the other. [NoticesOf] are the
// facts of the strip.
package watch
