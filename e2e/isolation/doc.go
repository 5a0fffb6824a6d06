// Package isolation tests what one misbehaving business type does to another. Its tests have
// receivers that break the rules of HTTP. Its benchmark, which make isolation runs, measures the
// lateness of another type on a deployment of real processes, and compares it with the other
// type's own quiet run. It takes some minutes of the whole machine.
package isolation
