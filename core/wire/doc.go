// Package wire holds the words that all rooms of the core share, as they are written in
// requests, answers and stored JSON.
//
// An [Instant] and a [Duration] are written the same everywhere. A [Wall] is what a clock on
// a wall shows. A [Key] names a timer or a dispatch, an [Actor] who made a change.
//
// A [Field] says what one field of a request may hold, a [List] how many entries a list may
// have. [FieldErrors] say everything that is wrong with a request. An [Error] says why a call
// could not be done.
//
// A reader starts with [Field] and [FieldErrors]: every check of the core goes by them.
package wire
