// Package jobs has the bulk jobs. A job counts first. Once the user has seen the count, another one carries it
// out, and has results.
//
// Start with [Pages.Routes].
package jobs
