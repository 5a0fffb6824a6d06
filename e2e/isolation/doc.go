// Package isolation measures what one business type that misbehaves does to the
// lateness of another: on a house of real processes, and against the other
// type's own quiet run. It takes some minutes of the whole machine, so it runs
// only when WAKECALL_ISOLATION is set.
package isolation
