package timers

import (
	"net/url"
	"time"

	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/search"
	"github.com/wakecall/wakecall/console/words"
)

// elsewhere is what plots and forecasts count, and a list lacks.
type elsewhere struct {
	// Ahead leads to what rings later than a list of the time ahead tells; nil for no such list.
	Ahead *ahead
	// Redelivered reports whether the list would have timers that failed then if they had not been
	// redelivered since.
	Redelivered bool
}

// lacksRedelivered reports whether a search is for the timers that failed in a time.
func lacksRedelivered(s search.Search) bool {
	ended := s.Query.Has("ended_from") || s.Query.Has("ended_to")
	return s.Query.Get("status") == calls.StatusFailed && ended && s.Word == "" && s.View == ""
}

// ahead leads to what the forecast counts in a time to come, and a list of that time lacks: a recurring timer
// stands in it by its next ring only, and the items of dispatches are no timers.
type ahead struct{ Recurring, Dispatches string }

// aheadOf is for a search by a due time that lies ahead, of timers that wait for it; nil for any other.
func aheadOf(s search.Search, now time.Time) *ahead {
	to, status := s.Query.Get("due_to"), s.Query.Get("status")
	coming := to > words.ISO(now) || to == "" && s.Query.Has("due_from")
	if !coming || s.Word != "" || s.View != "" || status != "" && status != calls.StatusScheduled {
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
