// Package search reads what somebody has typed, and turns it into a question for the API's list.
//
// Start with [Parse].
package search
