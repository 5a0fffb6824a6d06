// Package completion paces the ends of tasks: it stands between the SDK's workers
// and Temporal, sends few completions at once, those of tasks that would time out
// first before the rest, and measures how fast Temporal records them. Without it
// thousands of completions of a herd wait inside Temporal, where those that time out
// are repeated (docs/decisions/0008-the-held-ring.md).
package completion
