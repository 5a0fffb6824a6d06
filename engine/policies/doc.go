// Package policies stores, reads, lists and deletes the policies of business types, and holds
// the back-pressure of their receivers. Each policy is a workflow. Its memo is readable without
// a worker. A cache holds the policies that were read. A reader starts with [Policies].
package policies
