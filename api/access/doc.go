// Package access answers who calls, and which API keys there are.
//
// [Register] adds both calls.
package access
