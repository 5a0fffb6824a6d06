// Package objectives answers how punctual timers were, beside what their policies promise.
//
// [Register] adds the call.
package objectives
