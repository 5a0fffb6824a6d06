// Package histories tells what was done for a timer: every attempt, and the whole story with
// who did what. It reads the histories of the timer's runs. A reader starts with [Histories] and
// [Attempts].
package histories
