// Package stats counts timers by status and business type. A reader starts with [Stats.Count].
package stats
