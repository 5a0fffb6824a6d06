package oracle

import "fmt"

// early finds attempts that came before their due time.
func early(run Run, all timers) (found []Violation) {
	for _, t := range all {
		for _, a := range t.arrivals {
			due, _ := t.due(a.Revision)
			if ahead := due.Sub(a.At); !due.IsZero() && ahead > run.Limits.Ahead {
				found = append(found, Violation{Early, t.id, fmt.Sprintf("attempt %d of revision %d came %s early", a.Attempt, a.Revision, ahead)})
			}
		}
	}
	return found
}
