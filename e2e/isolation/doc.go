// Package isolation measures what one business type that misbehaves does to the
// lateness of another: on a deployment of real processes, and against the other
// type's own quiet run. It takes some minutes of the whole machine, so it is a
// benchmark; make isolation runs it.
package isolation
