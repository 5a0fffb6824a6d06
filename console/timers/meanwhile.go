package timers

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/console/calls"
)

// Changed reports whether the timer was another one when the form was filled.
func (p *timerPage) Changed() bool {
	return p.Problem != nil && p.Problem.Status == http.StatusPreconditionFailed
}

// Meanwhile are the changes that were made since the form was shown, as far as the story has them.
func (p *timerPage) Meanwhile() []calls.Entry {
	if !p.Changed() {
		return nil
	}
	seen := revisionOf(p.Typed.Get("etag"))
	return calls.Where(p.Story, func(e calls.Entry) bool { return e.Revision > seen })
}

// revisionOf is the revision that an ETag begins with; 0 for none.
func revisionOf(etag string) int {
	number, _, _ := strings.Cut(strings.Trim(etag, `"`), "-")
	revision, _ := strconv.Atoi(number)
	return revision
}
