package timers

import (
	"net/url"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/words"
)

// ahead leads to what the forecast counts in a time to come, and a list of that time lacks: a recurring timer
// stands in it by its next ring only, and the items of dispatches are no timers.
type ahead struct{ Recurring, Dispatches string }

// aheadOf is for a search by a due time that lies ahead, of timers that wait for it; nil for any other.
func aheadOf(s search.Search, now time.Time) *ahead {
	to, status := s.Query.Get("due_to"), s.Query.Get("status")
	if to <= words.ISO(now) || s.Word != "" || s.View != "" || status != "" && status != calls.StatusScheduled {
		return nil
	}
	businessType, all := s.Query.Get("business_type"), "is:recurring"
	leads := &ahead{Recurring: links.List(all, ""), Dispatches: links.Root + "dispatches"}
	if businessType != "" {
		leads.Recurring = links.List(links.TypedAs(businessType)+" "+all, "")
		leads.Dispatches += "?" + url.Values{"business_type": {businessType}}.Encode()
	}
	return leads
}
