// Package operations has the pages for operators: emergency pauses, health, and the audit.
//
// Start with [Pages.Routes].
package operations
