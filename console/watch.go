package console

import (
	"context"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// watch looks at the whole installation, once for all who look, and only while somebody does.
type watch struct {
	// look makes the next picture out of the last one, which it leaves as it is.
	look func(last *picture) *picture
	Pace
	now    func() time.Time
	asking singleflight.Group

	mu   sync.Mutex
	last *picture
	// changes counts the changes that were made here: a look that began before one does not
	// show it.
	changes  int
	lookedAt int
}

// newWatch returns a watch that makes its calls by a sender.
func newWatch(api Sender, pace Pace, now func() time.Time) *watch {
	return &watch{look: func(last *picture) *picture { return look(api, last, now()) }, Pace: pace, now: now}
}

// Pace is how often a console looks.
type Pace struct {
	// Every is how old what is shown may be; 0 to look for each page.
	Every time.Duration
	// Wait bounds how long a page waits for a look where there is an older one.
	Wait time.Duration
}

// picture is the installation as it is known. Who sees how much of it is for [picture.seenBy].
func (w *watch) picture(ctx context.Context) *picture {
	last, changes, fresh := w.known()
	if fresh {
		return last
	}
	looked := w.asking.DoChan(key(changes), func() (any, error) { return w.refresh(last, changes), nil })
	wait := ctx
	if last != nil {
		bounded, cancel := context.WithTimeout(ctx, w.Wait)
		defer cancel()
		wait = bounded
	}
	select {
	case result := <-looked:
		return result.Val.(*picture)
	case <-wait.Done():
		if last == nil {
			last = &picture{}
		}
		return last
	}
}

func (w *watch) known() (last *picture, changes int, fresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh = w.last != nil && w.lookedAt == w.changes && w.now().Sub(w.last.At) < w.Every
	return w.last, w.changes, fresh
}

func (w *watch) refresh(last *picture, changes int) *picture {
	if last == nil {
		last = &picture{}
	}
	next := w.look(last)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.lookedAt = next, changes
	return next
}

// changed has the next page wait for another look.
func (w *watch) changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes++
}

// key names the looks that show the same changes.
func key(changes int) string { return strconv.Itoa(changes) }
