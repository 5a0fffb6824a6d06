// Package health has what the checks of an installation found.
//
// A reader starts with [Check].
package health
