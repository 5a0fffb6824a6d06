// Package dispatches has the list of dispatches, and the page of one.
//
// Start with [Pages.Routes].
package dispatches
