// Package histories returns what was done for a timer: every attempt, and the complete
// history with the author of each entry. It reads the histories of the timer's runs. A
// reader starts with [Histories] and [Attempts].
package histories
