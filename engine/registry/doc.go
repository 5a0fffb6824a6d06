// Package registry holds the workflow that names the business types with a policy, so that no
// worker depends on Temporal's visibility to find their queues. A reader starts with [Registry].
package registry
