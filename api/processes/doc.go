// Package processes answers which processes an installation has.
//
// [Register] adds the call.
package processes
