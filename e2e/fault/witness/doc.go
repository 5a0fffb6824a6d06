// Package witness is a receiver of callbacks that writes down what it got, on
// the disk and synced, before it answers. What it shall answer stands in the
// payload, so that a timer carries its fate with it through every crash.
package witness
