// Package trails answers who did what, out of the records that the gateway keeps in memory.
//
// [Register] adds the call.
package trails
