// Package holds finds the tasks that workers hold, and frees those whose worker is gone. A
// reader starts with [Holds].
package holds
