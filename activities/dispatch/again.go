package dispatch

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/internal/tuning"
)

// span is items of a page that follow one another.
type span struct{ from, to int }

// again has the items of a job sent once more: nobody was called, for want of our own, or
// nobody knows of an answer. That says nothing of the receiver, and uses up no attempt. Where
// this executor has no room, the next moment has none either, so the shard rests.
func (s *stint) again(ctx context.Context, j job, outcome send.Outcome) {
	j.page.again = append(j.page.again, span{j.from, j.to})
	if until := time.Now().Add(tuning.WantPause); until.After(s.heldTill) {
		s.heldTill = until
	}
	if now := time.Now(); now.Sub(s.wanted) >= tuning.WantLogged {
		s.wanted = now
		activity.GetLogger(ctx).Warn("items could not be sent", "business_type", s.shard.BusinessType, "dispatch", s.shard.BusinessID, "failure", outcome.Describe())
	}
}

// more is whether a page has items to be sent.
func (p *page) more() bool { return len(p.again) > 0 || p.unsent < len(p.items) }

// back takes items that were to be sent already, if there are some.
func (p *page) back() (from, to int, ok bool) {
	if len(p.again) == 0 {
		return 0, 0, false
	}
	first := p.again[0]
	p.again = p.again[1:]
	return first.from, first.to, true
}
