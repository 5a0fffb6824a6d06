// Package registry has the workflow that knows which business types have a policy, so that no
// worker depends on Temporal's visibility to find their queues. A reader starts with [Registry].
package registry
