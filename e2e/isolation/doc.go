// Package isolation measures how one misbehaving business type affects the lateness of another.
// It uses a deployment of real processes, and compares with the other type's own quiet run. It
// takes some minutes of the whole machine, so it is a benchmark; make isolation runs it.
package isolation
