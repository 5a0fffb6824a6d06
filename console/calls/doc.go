// Package calls makes calls of the API in the same process, and has the shapes of its answers.
//
// Start with [Call] and [Sender].
package calls
