// Package holds finds the tasks that workers hold, and frees or takes over those of dead workers.
// A reader starts with [Holds].
package holds
