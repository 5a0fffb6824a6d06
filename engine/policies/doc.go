// Package policies stores, reads, lists and deletes the policies of business types, and knows
// the back-pressure of their receivers. Each policy is a workflow of its own, whose memo anybody
// may read without a worker. A cache holds what was read. A reader starts with [Policies].
package policies
