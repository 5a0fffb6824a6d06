package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// givenUp is the key of the buffer whose items are tried no more.
const givenUp = -1

// rung is the items that failed after a number of attempts, until they are stored. They
// stay open in their page until then: should this worker die, they are sent again.
type rung struct {
	filling, writing *buffer
	// notBefore is when to try again what could not be written.
	notBefore time.Time
}

type buffer struct {
	items []buffered
	bytes int
	since time.Time
	// due is when the last of them is due, and first when the first is.
	due, first timer.Instant
}

type buffered struct {
	page *page
	at   int
	item timer.DispatchItem
}

// put keeps an item that failed. made is the number of its attempts, or givenUp.
func (s *stint) put(made int, failed buffered, wait time.Duration) {
	r, now := s.rungs[made], time.Now()
	if r == nil {
		r = &rung{}
		s.rungs[made] = r
	}
	due := timer.At(now.Add(wait))
	if r.filling == nil {
		r.filling = &buffer{since: now, first: due}
	}
	b := r.filling
	b.items = append(b.items, failed)
	b.bytes += len(failed.item.Payload) + tuning.ItemOverhead
	b.due, b.first = max(b.due, due), min(b.first, due)
}

// flush stores what has waited long enough, and returns when the next has. It does while
// the shard is its own, and Temporal knows: the next executor would store its pages in the
// place of these.
func (s *stint) flush(ctx context.Context, now time.Time) (wake time.Time) {
	if !s.heard || now.After(s.lease) {
		return time.Time{} // the next sign of life comes first
	}
	for made, r := range s.rungs {
		if r.filling == nil || r.writing != nil {
			continue
		}
		if at := later(s.flushAt(made, r.filling, now), r.notBefore); at.After(now) {
			wake = earlier(wake, at)
			continue
		}
		r.filling, r.writing = nil, r.filling
		s.write(ctx, made, r)
	}
	return wake
}

// flushAt is when a buffer is stored: when it is full, when an item of it is due, when
// nothing comes any more, and some seconds after its first item at the latest.
func (s *stint) flushAt(made int, b *buffer, now time.Time) time.Time {
	at := b.since.Add(tuning.LadderFlush)
	if made != givenUp && b.first.Time().Before(at) {
		at = b.first.Time()
	}
	full := len(b.items) >= tuning.DispatchPageItems || b.bytes >= tuning.DispatchPageBytes
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

// write stores a buffer as a page: the last of its queue, or of those that were given up.
func (s *stint) write(ctx context.Context, made int, r *rung) {
	part, number, page := timer.DispatchGivenUp(s.shard.Stored), s.state.GivenUp, timer.DispatchPage{}
	if made != givenUp {
		for len(s.state.Ladder) <= made {
			s.state.Ladder = append(s.state.Ladder, timer.DispatchQueue{})
		}
		part, number, page.Due = timer.DispatchLadder(s.shard.Stored, made), s.state.Ladder[made].Tail, r.writing.due
	}
	for _, failed := range r.writing.items {
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
	b := r.writing
	r.writing = nil
	if err != nil {
		if r.filling != nil {
			b.items, b.bytes = append(b.items, r.filling.items...), b.bytes+r.filling.bytes
			b.due, b.first = max(b.due, r.filling.due), min(b.first, r.filling.first)
		}
		r.filling, r.notBefore = b, time.Now().Add(tuning.StorePause)
		return
	}
	if r.filling == nil {
		delete(s.rungs, made)
	}
	if made == givenUp {
		s.state.GivenUp++
		s.state.Failed += len(b.items)
		s.Observer.Dispatched(s.shard.BusinessType, OutcomeFailed, len(b.items))
	} else {
		queue := &s.state.Ladder[made]
		if queue.Head == queue.Tail {
			queue.Due = b.due
		}
		queue.Tail++
		s.state.Retrying += len(b.items)
		s.Observer.Dispatched(s.shard.BusinessType, OutcomeRetry, len(b.items))
	}
	for _, failed := range b.items {
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

// climb reads the pages of the ladder that are due, and returns when the next one is.
func (s *stint) climb(ctx context.Context, now time.Time) (wake time.Time) {
	if len(s.ladder) >= tuning.OpenPages {
		return time.Time{}
	}
	for made := range s.state.Ladder {
		queue := s.state.Ladder[made]
		if queue.Head == queue.Tail || s.reading[made] {
			continue
		}
		if at := later(queue.Due.Time(), s.loadAt); at.After(now) {
			wake = earlier(wake, at)
			continue
		}
		s.reading[made] = true
		id := timer.DispatchLadder(s.shard.Stored, made).Page(queue.Head)
		s.beside(func() func() {
			ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
			defer cancel()
			page, err := s.Store.ReadPage(ctx, id)
			return func() { s.climbed(made, page, err) }
		})
	}
	return wake
}

// climbed opens a page of the ladder, unless it is due later than was known.
func (s *stint) climbed(made int, stored timer.DispatchPage, err error) {
	delete(s.reading, made)
	queue := &s.state.Ladder[made]
	switch {
	case timer.CodeOf(err) == timer.NotFound:
		s.problem("A page of items that were to be tried again is gone: " + timer.DispatchLadder(s.shard.Stored, made).Page(queue.Head))
		queue.Head, queue.Due = queue.Head+1, 0
	case err != nil:
		queue.Due = timer.At(time.Now().Add(tuning.StorePause))
	case stored.Due.Until(time.Now()) > 0:
		queue.Due = stored.Due
	case s.why == "":
		s.ladder = append(s.ladder, open(timer.DispatchOpen{Attempts: made, Page: queue.Head}, stored.Items))
		queue.Head, queue.Due = queue.Head+1, 0
	}
}

// problem is why the shard cannot be complete.
func (s *stint) problem(message string) {
	s.state.Problem = &timer.Failure{Message: timer.Excerpt(message), At: timer.At(time.Now())}
}
