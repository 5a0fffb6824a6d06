package oracle

import (
	"fmt"
	"slices"
)

// gaps finds retries that came too soon or too late for the ladder. A fault
// may make a gap longer, never shorter.
func gaps(run Run, all timers) (found []Violation) {
	for _, t := range all {
		for i := 1; i < len(t.arrivals); i++ {
			a, b := t.arrivals[i-1], t.arrivals[i]
			if a.taken() || a.Revision != b.Revision || b.Attempt != a.Attempt+1 || run.inFlight(a) {
				continue
			}
			if what := run.gap(a, b); what != "" {
				found = append(found, Violation{Gaps, t.id, what})
			}
		}
	}
	return found
}

func (run Run) gap(a, b Arrival) string {
	if a.Attempt > len(run.Limits.Ladder) {
		return fmt.Sprintf("attempt %d is past the end of the ladder", b.Attempt)
	}
	step, gap := run.Limits.Ladder[a.Attempt-1], b.At.Sub(a.Answered)
	disturbed := slices.ContainsFunc(run.Faults, func(f Fault) bool {
		f.To = f.To.Add(run.Limits.Recovery)
		return f.touches(a.Answered, b.At)
	})
	if gap < step*9/10 || (gap > step*12/10+run.Limits.Slack && !disturbed) {
		return fmt.Sprintf("attempt %d came %s after the one before, not %s", b.Attempt, gap, step)
	}
	return ""
}
