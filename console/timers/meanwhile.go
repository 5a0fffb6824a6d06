package timers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
)

// tooLate is a key of the catalogues: how a timer had ended before a change of it came, which the API
// has refused; "" for another refusal.
func tooLate(problem *calls.Problem, now calls.Timer) string {
	if problem == nil || problem.Status != http.StatusPreconditionFailed && problem.Status != http.StatusConflict || !now.Finished() {
		return ""
	}
	return "ended." + now.Status
}

// Changed reports whether the timer was another one when the form was filled.
func (p *timerPage) Changed() bool {
	return p.Problem != nil && p.Problem.Status == http.StatusPreconditionFailed
}

// Meanwhile are the changes that were made since the form was shown, and how the timer ended since
// then, as far as the story has them.
func (p *timerPage) Meanwhile() (since []calls.Entry) {
	if !p.Changed() && p.TooLate == "" {
		return nil
	}
	seen, booking := tagOf(p.Typed.Get("etag"))
	if _, now := tagOf(p.ETag); booking != now { // the revisions of each booking begin at 1
		seen = 0
	}
	since = calls.Where(p.Story, func(e calls.Entry) bool { return e.Revision > seen })
	if p.TooLate == "" {
		return since
	}
	for _, e := range slices.Backward(p.Story) {
		if e.Event == p.Timer.Status {
			return append(since, e)
		}
	}
	return since
}

// tagOf reads the revision and the booking that an ETag names; 0 and "" for none.
func tagOf(etag string) (revision int, booking string) {
	number, booking, _ := strings.Cut(strings.Trim(etag, `"`), "-")
	revision, _ = strconv.Atoi(number)
	return revision, booking
}
