package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// givenUp is the key of the queue whose items are tried no more.
const givenUp = -1

// retryQueue is the items that failed after a number of attempts, until they are stored.
// They stay open in their page until then: if this worker dies, they are sent again.
type retryQueue struct {
	// pages hold the items in the order of storing, and writing reports whether the first
	// one is being written.
	pages   []*retryPage
	writing bool
	// notBefore is when to retry a failed write.
	notBefore time.Time
}

// retryPage is a page that fills. It takes no more items after the first write: a refused
// write is repeated with the same content.
type retryPage struct {
	items []failedItem
	room  dispatch.Room
	asked bool
	// exists reports whether another page was found in its place: an earlier executor stored that
	// and has not reported it. This one takes its place.
	exists bool
	since  time.Time
	// due is when its last item is due, and first when its first item is.
	due, first wire.Instant
}

type failedItem struct {
	page *page
	at   int
	item dispatch.Item
}

// putItem adds an item to the last page, or to a new one if that is full.
func (q *retryQueue) putItem(failed failedItem, now time.Time, wait time.Duration) {
	due, last := wire.At(now.Add(wait)), len(q.pages)-1
	if last < 0 || q.pages[last].asked || !q.pages[last].room.Reserve(failed.item) {
		next := &retryPage{room: tuning.DispatchPage, since: now, first: due}
		next.room.Reserve(failed.item)
		q.pages, last = append(q.pages, next), last+1
	}
	p := q.pages[last]
	p.items = append(p.items, failed)
	p.due, p.first = max(p.due, due), min(p.first, due)
}

// full reports whether the first page takes no more items.
func (q *retryQueue) full() bool { return len(q.pages) > 1 || q.pages[0].room.Items == 0 }
