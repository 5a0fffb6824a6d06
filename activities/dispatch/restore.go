package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// restore takes over the pages that were open when the last stint ended, or its worker died.
// The loop reads them like any others: a loader or a store that does not answer holds up
// neither the rest of the shard nor its signs of life.
func (s *stint) restore() {
	if s.state.Page == 0 {
		s.state.Page = s.shard.Source.First
	}
	for _, was := range s.state.Open {
		if was.Attempts > 0 {
			s.oldLadder = append(s.oldLadder, was)
		} else {
			s.oldMain = append(s.oldMain, was)
		}
	}
	s.state.Open = nil
	// What was in flight at a worker that died is sent again, and counted by then.
	s.state.InFlight = 0
}

// restoring is whether there are old pages left to be read.
func (s *stint) restoring() bool { return len(s.oldMain)+len(s.oldLadder) > 0 }

// awaitsOld is whether nothing can be sent before an old page was read. The first moment is
// chosen when there is something to send: it would have passed else, and be lost.
func (s *stint) awaitsOld() bool {
	return s.fresh && s.restoring() && len(s.main)+len(s.ladder) == 0
}

// reloaded goes on with the first old page of the source, or drops it where it cannot be
// read any more.
func (s *stint) reloaded(was dispatch.Open, read batch, err error) {
	if err != nil && !s.unread(err) {
		return
	}
	s.oldMain = s.oldMain[1:]
	if err == nil {
		s.state.LoaderTries = 0
		s.main = reopen(s.main, was, read.items)
	}
}

// reclimb begins to read the first old page of the ladder, and returns when to try that
// again.
func (s *stint) reclimb(ctx context.Context, now time.Time) (wake time.Time) {
	if len(s.oldLadder) == 0 {
		return time.Time{}
	}
	was := s.oldLadder[0]
	id := s.rungPage(was.Attempts, was.Page)
	switch {
	case s.reading[id]:
		return time.Time{}
	case s.climbAt.After(now):
		return s.climbAt
	}
	s.readRung(ctx, id, func(stored dispatch.Page, err error) { s.reclimbed(was, stored, err) })
	return time.Time{}
}

// reclimbed goes on with the first old page of the ladder.
func (s *stint) reclimbed(was dispatch.Open, stored dispatch.Page, err error) {
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		s.missing(s.rungPage(was.Attempts, was.Page))
		s.oldLadder = s.oldLadder[1:]
	case err != nil:
		s.climbAt = time.Now().Add(tuning.StorePause)
	case s.why == "":
		s.ladder = reopen(s.ladder, was, stored.Items)
		s.oldLadder = s.oldLadder[1:]
	}
}

// reopen adds a page as it was, unless all of it was dealt with.
func reopen(pages []*page, was dispatch.Open, items []dispatch.Item) []*page {
	if p := open(was, items); p.left > 0 {
		return append(pages, p)
	}
	return pages
}
