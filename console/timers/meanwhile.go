package timers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/site"
)

// tooLate is a key of the catalogues: how a timer had ended before a change of it came, which the API
// has refused; "" for another refusal.
func tooLate(problem *calls.Problem, now calls.Timer) string {
	if problem == nil || problem.Status != http.StatusPreconditionFailed && problem.Status != http.StatusConflict || !now.Finished() {
		return ""
	}
	return "ended." + now.Status
}

// addMeanwhile adds to a refusal the changes of a timer since its form was shown, and its end if it came
// too late, as far as the story has them. etag is that of the timer as it is by now.
func addMeanwhile(r *site.Refusal, story []calls.Entry, etag string, now calls.Timer) {
	if !r.Changed() && r.TooLate == "" {
		return
	}
	r.Meanwhile = since(story, revisionIn(r.Typed, etag))
	if r.TooLate == "" {
		return
	}
	for _, e := range slices.Backward(story) {
		if e.Event == now.Status {
			r.Meanwhile = append(r.Meanwhile, e)
			return
		}
	}
}

// since are the changes of a story after a revision.
func since(story []calls.Entry, seen int) []calls.Entry {
	return calls.Where(story, func(e calls.Entry) bool { return e.Revision > seen })
}

// revisionIn is the revision that a form was filled for; 0 for one of another booking than that of an ETag,
// since the revisions of each booking begin at 1.
func revisionIn(form url.Values, etag string) int {
	seen, booking := tagOf(form.Get("etag"))
	if _, now := tagOf(etag); booking != now {
		return 0
	}
	return seen
}

// tagOf reads the revision and the booking that an ETag names; 0 and "" for none.
func tagOf(etag string) (revision int, booking string) {
	number, booking, _ := strings.Cut(strings.Trim(etag, `"`), "-")
	revision, _ = strconv.Atoi(number)
	return revision, booking
}
