// Package dispatches answers the calls on dispatches: start, upload, show, list, follow, change,
// and the items that failed.
//
// [Register] adds the calls. [ReadOrder] reads the order of a dispatch from a body.
package dispatches
