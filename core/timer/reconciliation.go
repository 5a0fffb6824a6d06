package timer

// Reconciliation is the result of one search for timers that should have rung.
type Reconciliation struct {
	// Woken counts the woken timers, by business type.
	Woken map[string]int
	// Passed holds the errors of timers that could not be checked, by key.
	Passed map[string]error
}
