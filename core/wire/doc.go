// Package wire holds the words that all rooms of the core share, as requests, answers and stored
// JSON write them.
//
// An [Instant] and a [Duration] are written the same everywhere. A [Wall] is the time on a wall
// clock. A [Key] names a timer or a dispatch. An [Actor] names the maker of a change.
//
// A [Field] bounds the value of one field of a request. A [List] bounds the length of a list.
// [FieldErrors] name every fault of a request. An [Error] is the reason why a call failed.
//
// A reader starts with [Field] and [FieldErrors]: every check of the core uses them.
package wire
