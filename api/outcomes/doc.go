// Package outcomes answers how timers ended and how late they rang, minute by minute.
//
// [Register] adds the call.
package outcomes
