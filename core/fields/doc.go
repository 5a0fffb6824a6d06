// Package fields looks at the fields of all request bodies at once, for whoever reads bodies
// and says what is wrong with them.
//
// [Lists] are the bounds of every list. [Example] is a value that a field takes.
package fields
