// Package answers writes answers: problems, effects of changes, ETags, and JSON without the
// payloads that the caller may not see.
//
// [ErrorHandler] is the only place where an error becomes an answer. [Effect] answers every
// change of a timer.
package answers
