// Package fields collects facts about the fields of all request bodies, for decoders.
//
// [Lists] returns the bounds of every list. [Example] returns a value for a field.
package fields
