package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// retries reads the pages of the ladder that are due. It stores the items that failed.
type retries struct {
	*base
	lease *lease
	// old are the pages that were open when the run began, until they are read again. The
	// next read is at readAt.
	old    []dispatch.Open
	readAt time.Time
	// reading has the ids of the pages being read.
	reading map[string]bool
	// queues are the items that are not stored yet, by the number of their attempts.
	queues map[int]*retryQueue
}

// empty reports whether nothing is under way.
func (r *retries) empty() bool { return len(r.old)+len(r.queues)+len(r.reading) == 0 }

// wakeAt is when the next page of the ladder is due, as far as known; zero for none.
func (r *retries) wakeAt() (at wire.Instant) {
	for _, queue := range r.state.Ladder {
		if queue.Head < queue.Tail && (at == 0 || queue.Due < at) {
			at = max(queue.Due, 1)
		}
	}
	return at
}

// readDue reads the pages that are due, and returns when the next one is.
func (r *retries) readDue(ctx context.Context, now time.Time) (wake time.Time) {
	if len(r.ladder)+len(r.old) >= tuning.OpenPages {
		return time.Time{}
	}
	for made := range r.state.Ladder {
		queue := r.state.Ladder[made]
		if queue.Head == queue.Tail || r.reading[r.pageID(made, queue.Head)] {
			continue
		}
		if at := queue.Due.Time(); at.After(now) {
			wake = earlier(wake, at)
			continue
		}
		r.readPage(ctx, r.pageID(made, queue.Head), func(stored dispatch.Page, err error) { r.addPage(made, stored, err) })
	}
	return wake
}

// readOld begins to read the first old page, and returns when to try that again.
func (r *retries) readOld(ctx context.Context, now time.Time) (wake time.Time) {
	if len(r.old) == 0 {
		return time.Time{}
	}
	was := r.old[0]
	id := r.pageID(was.Attempts, was.Page)
	switch {
	case r.reading[id]:
		return time.Time{}
	case r.readAt.After(now):
		return r.readAt
	}
	r.readPage(ctx, id, func(stored dispatch.Page, err error) { r.reopen(was, stored, err) })
	return time.Time{}
}

// pageID is the id of a page of the ladder.
func (r *retries) pageID(made, number int) string {
	return dispatch.Ladder(r.shard.Stored, made).Page(number)
}

// readPage reads a page of the ladder.
func (r *retries) readPage(ctx context.Context, id string, then func(stored dispatch.Page, err error)) {
	r.reading[id] = true
	var stored dispatch.Page
	r.startWork(ctx, func() (err error) {
		ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
		defer cancel()
		stored, err = r.Store.ReadPage(ctx, id)
		return err
	}, func(err error) {
		delete(r.reading, id)
		then(stored, err)
	})
}

// addPage opens a page, unless it is due later than was known.
func (r *retries) addPage(made int, stored dispatch.Page, err error) {
	queue := &r.state.Ladder[made]
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		r.missing(r.pageID(made, queue.Head))
		queue.Head, queue.Due = queue.Head+1, 0
	case err != nil:
		queue.Due = wire.At(time.Now().Add(tuning.StorePause))
	case stored.Due.Until(time.Now()) > 0:
		queue.Due = stored.Due
	case !r.ending():
		r.ladder = append(r.ladder, open(dispatch.Open{Attempts: made, Page: queue.Head}, stored.Items))
		queue.Head, queue.Due = queue.Head+1, 0
	}
}

// reopen continues with the first old page.
func (r *retries) reopen(was dispatch.Open, stored dispatch.Page, err error) {
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		r.missing(r.pageID(was.Attempts, was.Page))
		r.old = r.old[1:]
	case err != nil:
		r.readAt = time.Now().Add(tuning.StorePause)
	case !r.ending():
		r.ladder = reopen(r.ladder, was, stored.Items)
		r.old = r.old[1:]
	}
}

// missing reports a missing page of the ladder, whose items can no longer be sent.
func (r *retries) missing(id string) {
	r.problem("A page of items to be retried is gone: " + id)
}

// putItem adds a failed item. made is the number of its attempts, or givenUp.
func (r *retries) putItem(made int, failed failedItem, wait time.Duration) {
	q := r.queues[made]
	if q == nil {
		q = &retryQueue{}
		r.queues[made] = q
	}
	q.putItem(failed, time.Now(), wait)
}

// flush stores the queues that have waited long enough, and returns when the next is due. It
// writes only while the shard is its own and Temporal knows it: otherwise the next
// executor's pages would take the place of these.
func (r *retries) flush(ctx context.Context, now time.Time) (wake time.Time) {
	if !r.lease.heard || !r.lease.held(now) {
		return time.Time{} // the next heartbeat comes first
	}
	for made, q := range r.queues {
		if q.writing {
			continue
		}
		if at := later(r.flushAt(made, q, now), q.notBefore); at.After(now) {
			wake = earlier(wake, at)
			continue
		}
		r.write(ctx, made, q)
	}
	return wake
}

// flushAt is when the first page of a queue is stored, the earliest of:
//   - when the page is full
//   - when one of its items is due
//   - when no further items come
//   - some seconds after its first item
func (r *retries) flushAt(made int, q *retryQueue, now time.Time) time.Time {
	p := q.pages[0]
	at := p.since.Add(tuning.LadderFlush)
	if made != givenUp && p.first.Time().Before(at) {
		at = p.first.Time()
	}
	if q.full() || r.ending() || (r.state.End && r.calls == 0) {
		return now
	}
	return at
}

// write stores the first page of a queue, as the last page of its queue on the ladder or of
// the given-up pages. It adds the page at first: where this executor stands still meanwhile, the page
// of the next one must not be replaced.
func (r *retries) write(ctx context.Context, made int, q *retryQueue) {
	p := q.pages[0]
	q.writing, p.asked = true, true
	part, number, page := dispatch.GivenUp(r.shard.Stored), r.state.GivenUp, dispatch.Page{}
	if made != givenUp {
		for len(r.state.Ladder) <= made {
			r.state.Ladder = append(r.state.Ladder, dispatch.Queue{})
		}
		part, number, page.Due = dispatch.Ladder(r.shard.Stored, made), r.state.Ladder[made].Tail, p.due
	}
	for _, failed := range p.items {
		page.Items = append(page.Items, failed.item)
	}
	life, store := r.settings.memo.Life(time.Now()), r.Store.AddPage
	if p.exists {
		store = r.Store.WritePage
	}
	r.startWork(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
		defer cancel()
		return store(ctx, part.Page(number), page, life)
	}, func(err error) { r.written(made, q, err) })
}

// written counts the items of a page once it is stored.
func (r *retries) written(made int, q *retryQueue, err error) {
	q.writing = false
	if wire.CodeOf(err) == wire.AlreadyExists {
		q.pages[0].exists = true // it is stored at once, if the shard is still this executor's
		return
	}
	if err != nil {
		q.notBefore = time.Now().Add(tuning.StorePause)
		return
	}
	p := q.pages[0]
	if q.pages = q.pages[1:]; len(q.pages) == 0 {
		delete(r.queues, made)
	}
	if made == givenUp {
		r.state.GivenUp++
		r.state.Failed += len(p.items)
		r.Observer.Dispatched(r.shard.BusinessType, OutcomeFailed, len(p.items))
	} else {
		queue := &r.state.Ladder[made]
		if queue.Head == queue.Tail {
			queue.Due = p.due
		}
		queue.Tail++
		r.state.Retrying += len(p.items)
		r.Observer.Dispatched(r.shard.BusinessType, OutcomeRetry, len(p.items))
	}
	for _, failed := range p.items {
		r.markResolved(failed.page, failed.at)
	}
}

// earlier is the earlier of two times; zero for none.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || (!a.IsZero() && a.Before(b)) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
