// Package witness is a receiver of callbacks that records each request, on the disk and
// synced, before it answers. The payload says what to answer, so that a timer carries its
// fate through every crash.
package witness
