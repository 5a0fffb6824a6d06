// Package unbounded reads bodies and writes answers of any length: lines of JSON, and server-sent
// events.
//
// No time limits them as a whole. Each piece has the time of a whole request or answer of
// bounded length.
package unbounded
