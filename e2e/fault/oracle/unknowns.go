package oracle

import (
	"fmt"
	"net/http"
)

// The slug of a repeated add whose timer is finished already.
const alreadyFinished = "already-finished"

// unknowns finds adds of unknown outcome with one of these faults: they became two timers,
// they were never cleared up, or the answer to the repetition fits neither none nor one timer.
func unknowns(_ Run, all timers) (found []Violation) {
	for _, t := range all {
		found = append(found, t.answers()...)
	}
	return found
}

func (t *timer) answers() (found []Violation) {
	violation := func(format string, args ...any) {
		found = append(found, Violation{Unknowns, t.id, fmt.Sprintf(format, args...)})
	}
	adds := t.callsOf(Add, OK, Failed, Unknown)
	maybe, created := false, false
	for _, add := range adds {
		switch add.Status {
		case http.StatusCreated:
			if created {
				violation("was created twice")
			}
			if len(t.arrivals) > 0 && t.arrivals[0].At.Before(add.Sent) {
				violation("was created after it had rung")
			}
			created = true
		case http.StatusOK, http.StatusConflict:
			if !maybe && !created {
				violation("a first add was answered %d", add.Status)
			}
			if add.Status == http.StatusConflict && add.Problem != alreadyFinished {
				violation("a repeated add was answered %s", add.Problem)
			}
		}
		maybe = maybe || add.Outcome == Unknown
	}
	if n := len(adds); n > 0 && adds[n-1].Outcome == Unknown {
		violation("it was never cleared up whether it was booked")
	}
	return found
}
