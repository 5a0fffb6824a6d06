// Package operations has the pages for who keeps the installation running: what is paused at once,
// what answers, and who did what.
//
// Start with [Pages.Routes].
package operations
