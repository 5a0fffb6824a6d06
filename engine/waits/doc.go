// Package waits determines what holds attempts up: a policy, an emergency, or a queue. A
// reader starts with [Waits].
package waits
