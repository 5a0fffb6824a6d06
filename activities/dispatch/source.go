package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// source reads the items of a shard, a page at a time.
type source struct {
	*base
	// old are the pages that were open when the run began, until they are read again.
	old []dispatch.Open
	// loading reports whether the next page is being read. The next read begins at loadAt.
	loading bool
	loadAt  time.Time
}

// batch is a page of the source as read.
type batch struct {
	items []dispatch.Item
	// next is the cursor of the next page, and end reports whether there is none.
	next string
	end  bool
}

// restore takes over the pages that were open when the last run ended or its worker died.
// The loop reads them like any others: a loader or a store without an answer holds up
// neither the rest of the shard nor its heartbeats.
func (s *source) restore(open []dispatch.Open) {
	s.old = open
	if s.state.Page == 0 {
		s.state.Page = s.shard.Source.First
	}
}

// loads reports whether the items come from a loader, and are not stored.
func (s *source) loads() bool { return len(s.shard.Source.Parts) == 0 }

// done reports whether all items have been read.
func (s *source) done() bool { return s.state.End && !s.loading && len(s.old) == 0 }

// load begins to read the next page if there is soon nothing to send. Old pages come first.
func (s *source) load(ctx context.Context, now time.Time) {
	if s.loading || now.Before(s.loadAt) || s.readAhead() {
		return
	}
	at, then := dispatch.Open{Page: s.state.Page, Base: s.state.Base, Cursor: s.state.Cursor}, s.addPage
	switch {
	case len(s.old) > 0:
		at, then = s.old[0], s.reopen
	case s.state.End || len(s.main) >= tuning.OpenPages:
		return
	}
	s.loading = true
	c := s.settings
	var read batch
	s.startWork(ctx, func() (err error) {
		read, err = s.read(ctx, c, at)
		return err
	}, func(err error) {
		s.loading = false
		if ctx.Err() == nil && !s.ending() { // else the next run reads it again
			then(at, read, err)
		}
	})
}

// readAhead reports whether there is enough to send for now.
func (s *source) readAhead() bool {
	unsent := 0
	for _, p := range s.main {
		unsent += len(p.items) - p.unsent
	}
	return float64(unsent) > s.perSecond()*tuning.ReadAhead.Seconds()
}

// read reads the page that an open page names, under the settings c. It may run outside of
// the loop, which reads the settings again meanwhile.
func (s *source) read(ctx context.Context, c *settings, at dispatch.Open) (batch, error) {
	if s.loads() {
		return s.askLoader(ctx, c, at.Cursor)
	}
	return s.readStored(ctx, s.shard.Source, at)
}

// readStored reads a stored page of a source.
func (e *Executor) readStored(ctx context.Context, source dispatch.Source, at dispatch.Open) (batch, error) {
	number := at.Page
	for _, part := range source.Parts {
		if number >= part.Pages {
			number -= part.Pages
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
		defer cancel()
		page, err := e.Store.ReadPage(ctx, part.Page(number))
		if err != nil {
			return batch{}, err
		}
		if at.Page == source.First {
			page.Items = page.Items[min(source.Skip, len(page.Items)):]
		}
		page.Items = page.Items[:min(len(page.Items), source.Items-at.Base)]
		return batch{items: page.Items, end: at.Base+len(page.Items) >= source.Items}, nil
	}
	return batch{}, &wire.Error{Code: wire.NotFound, Message: "There is no such page."}
}

// addPage opens a page that was read.
func (s *source) addPage(at dispatch.Open, read batch, err error) {
	switch {
	case err != nil:
		s.retryRead(err)
		return
	case s.loads() && !read.end && s.state.Cycle.Repeats(read.next):
		s.problem("The loader repeated an earlier cursor: " + read.next)
		read.end = true
	}
	s.state.LoaderTries = 0
	s.state.Found += len(read.items)
	s.state.Page, s.state.Base, s.state.Cursor, s.state.End = at.Page+1, at.Base+len(read.items), read.next, read.end
	if len(read.items) > 0 {
		s.main = append(s.main, open(at, read.items))
		return
	}
	s.loadAt = time.Now().Add(tuning.EmptyPagePause)
}

// reopen continues with the first old page, or drops it if it can no longer be read.
func (s *source) reopen(was dispatch.Open, read batch, err error) {
	if err != nil && !s.retryRead(err) {
		return
	}
	s.old = s.old[1:]
	if err == nil {
		s.state.LoaderTries = 0
		s.main = reopen(s.main, was, read.items)
	}
}

// retryRead schedules another read of a page. After a final error or too many tries it ends
// the source, and reports that. Items read before are still sent.
func (s *source) retryRead(err error) (vain bool) {
	if errors.Is(err, errUnasked) {
		s.loadAt = time.Now().Add(tuning.WantPause)
		return false
	}
	tries := s.state.LoaderTries
	final := wire.CodeOf(err) == wire.InvalidRequest || wire.CodeOf(err) == wire.NotFound
	if final || (s.loads() && tries >= len(tuning.LoaderWaits)) {
		s.problem(shownText(err))
		s.state.End = true
		return true
	}
	s.loadAt = time.Now().Add(tuning.LoaderWaits[min(tries, len(tuning.LoaderWaits)-1)])
	s.state.LoaderTries++
	return false
}
