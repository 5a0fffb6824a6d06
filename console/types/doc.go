// Package types has the overview, the table of business types, and the page of one with its policy.
//
// Start with [Pages.Routes].
package types
