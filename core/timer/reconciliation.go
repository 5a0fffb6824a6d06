package timer

// Reconciliation is what came of one look for timers that should have rung.
type Reconciliation struct {
	// Woken counts the timers that were woken, by business type.
	Woken map[string]int
	// Passed are the timers that could not be looked at, by their key, and why.
	Passed map[string]error
}
