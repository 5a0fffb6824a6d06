package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// givenUp is the key of the buffer whose items are tried no more.
const givenUp = -1

// rung is the items that failed after a number of attempts, until they are stored. They
// stay open in their page until then: should this worker die, they are sent again.
type rung struct {
	// pages are what they are stored as, one after another, and writing is whether the first
	// one is under way.
	pages   []*buffer
	writing bool
	// notBefore is when to try again what could not be written.
	notBefore time.Time
}

// buffer is a page that fills. It takes nothing more once the store was asked to take it:
// what is refused is the same page the next time, and no larger.
type buffer struct {
	items []buffered
	room  dispatch.Room
	asked bool
	since time.Time
	// due is when the last of them is due, and first when the first is.
	due, first wire.Instant
}

type buffered struct {
	page *page
	at   int
	item dispatch.Item
}

// put keeps an item that failed. made is the number of its attempts, or givenUp.
func (s *stint) put(made int, failed buffered, wait time.Duration) {
	r := s.rungs[made]
	if r == nil {
		r = &rung{}
		s.rungs[made] = r
	}
	r.put(failed, time.Now(), wait)
}

// put adds an item to the last page, or to one behind it where that has no room.
func (r *rung) put(failed buffered, now time.Time, wait time.Duration) {
	due, last := wire.At(now.Add(wait)), len(r.pages)-1
	if last < 0 || r.pages[last].asked || !r.pages[last].room.Reserve(failed.item) {
		next := &buffer{room: tuning.DispatchPage, since: now, first: due}
		next.room.Reserve(failed.item)
		r.pages, last = append(r.pages, next), last+1
	}
	p := r.pages[last]
	p.items = append(p.items, failed)
	p.due, p.first = max(p.due, due), min(p.first, due)
}

// flush stores what has waited long enough, and returns when the next has. It does while
// the shard is its own, and Temporal knows: the next executor would store its pages in the
// place of these.
func (s *stint) flush(ctx context.Context, now time.Time) (wake time.Time) {
	if !s.heard || now.After(s.lease) {
		return time.Time{} // the next sign of life comes first
	}
	for made, r := range s.rungs {
		if r.writing {
			continue
		}
		if at := later(s.flushAt(made, r, now), r.notBefore); at.After(now) {
			wake = earlier(wake, at)
			continue
		}
		s.write(ctx, made, r)
	}
	return wake
}

// flushAt is when the first page of a rung is stored: when it is full, when an item of it is
// due, when nothing comes any more, and some seconds after its first item at the latest.
func (s *stint) flushAt(made int, r *rung, now time.Time) time.Time {
	p := r.pages[0]
	at := p.since.Add(tuning.LadderFlush)
	if made != givenUp && p.first.Time().Before(at) {
		at = p.first.Time()
	}
	full := len(r.pages) > 1 || p.room.Items == 0
	if full || s.why != "" || (s.state.End && s.calls == 0) {
		return now
	}
	return at
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// write stores the first page of a rung: as the last of its queue, or of those that were
// given up.
func (s *stint) write(ctx context.Context, made int, r *rung) {
	p := r.pages[0]
	r.writing, p.asked = true, true
	part, number, page := dispatch.GivenUp(s.shard.Stored), s.state.GivenUp, dispatch.Page{}
	if made != givenUp {
		for len(s.state.Ladder) <= made {
			s.state.Ladder = append(s.state.Ladder, dispatch.Queue{})
		}
		part, number, page.Due = dispatch.Ladder(s.shard.Stored, made), s.state.Ladder[made].Tail, p.due
	}
	for _, failed := range p.items {
		page.Items = append(page.Items, failed.item)
	}
	life := s.settings.memo.Life(time.Now())
	s.beside(func() func() {
		ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
		defer cancel()
		err := s.Store.WritePage(ctx, part.Page(number), page, life)
		return func() { s.written(made, r, err) }
	})
}

// written counts the items of a page once it is stored.
func (s *stint) written(made int, r *rung, err error) {
	r.writing = false
	if err != nil {
		r.notBefore = time.Now().Add(tuning.StorePause)
		return
	}
	p := r.pages[0]
	if r.pages = r.pages[1:]; len(r.pages) == 0 {
		delete(s.rungs, made)
	}
	if made == givenUp {
		s.state.GivenUp++
		s.state.Failed += len(p.items)
		s.Observer.Dispatched(s.shard.BusinessType, OutcomeFailed, len(p.items))
	} else {
		queue := &s.state.Ladder[made]
		if queue.Head == queue.Tail {
			queue.Due = p.due
		}
		queue.Tail++
		s.state.Retrying += len(p.items)
		s.Observer.Dispatched(s.shard.BusinessType, OutcomeRetry, len(p.items))
	}
	for _, failed := range p.items {
		s.deal(failed.page, failed.at)
	}
}

// deal notes that it is stored what became of an item.
func (s *stint) deal(p *page, i int) {
	p.deal(i)
	if p.Attempts > 0 {
		s.state.Retrying--
	}
	s.closePage(p)
}
