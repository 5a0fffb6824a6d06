package timer

import "slices"

// Applied are the ids of the latest changes that a timer has applied, the latest last. A call whose
// answer was lost is repeated, and may reach the run after the one that has applied it. Temporal
// itself knows a repeated signal in one run only.
type Applied []string

// mostApplied is how many ids a timer stores. A call is repeated within seconds.
const mostApplied = 4

// Has reports whether a change is one of them.
func (a Applied) Has(change string) bool { return change != "" && slices.Contains(a, change) }

// add adds a change, and drops the oldest beyond [mostApplied].
func (a Applied) add(change string) Applied {
	if change == "" {
		return a
	}
	return slices.Concat(a[max(len(a)+1-mostApplied, 0):], Applied{change})
}
