// Package operations has the pages for who keeps the installation running: what is paused at once,
// and what answers.
//
// Start with [Pages.Routes].
package operations
