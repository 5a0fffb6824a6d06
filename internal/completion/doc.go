// Package completion paces the ends of tasks. It is between the SDK's workers and Temporal, and
// sends few completions at once, those of tasks that time out soonest first. It measures how
// fast Temporal records them. Without it, thousands of completions of a herd would wait inside
// Temporal, and be repeated after a timeout (docs/decisions/0008-the-held-ring.md).
package completion
