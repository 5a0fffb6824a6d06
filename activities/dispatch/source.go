package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// batch is a page of the source as it was read.
type batch struct {
	items []dispatch.Item
	// next is the cursor of the page after it, and end whether there is none.
	next string
	end  bool
}

// loads is whether the items are asked for, and not stored.
func (s *stint) loads() bool { return len(s.shard.Source.Parts) == 0 }

// readSource reads the page of the source that an open page names, as the settings say. It
// may be done beside the loop, which reads the settings again meanwhile.
func (s *stint) readSource(ctx context.Context, c *settings, at dispatch.Open) (batch, error) {
	if s.loads() {
		return s.ask(ctx, c, at.Cursor)
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

// load begins to read the next page where soon there will be nothing to send: an old one as
// long as there is one.
func (s *stint) load(ctx context.Context, now time.Time) {
	if s.loading || now.Before(s.loadAt) || s.readAhead() {
		return
	}
	at, then := dispatch.Open{Page: s.state.Page, Base: s.state.Base, Cursor: s.state.Cursor}, s.loaded
	switch {
	case len(s.oldMain) > 0:
		at, then = s.oldMain[0], s.reloaded
	case s.state.End || len(s.main) >= tuning.OpenPages:
		return
	}
	s.loading = true
	c := s.settings
	s.beside(func() func() {
		read, err := s.readSource(ctx, c, at)
		return func() {
			s.loading = false
			if ctx.Err() == nil && s.why == "" { // else it is read again by the next stint
				then(at, read, err)
			}
		}
	})
}

// readAhead reports whether there is enough to send for now.
func (s *stint) readAhead() bool {
	unsent := 0
	for _, p := range s.main {
		unsent += len(p.items) - p.unsent
	}
	return float64(unsent) > s.each()*tuning.ReadAhead.Seconds()
}

// loaded opens a page that was read.
func (s *stint) loaded(at dispatch.Open, read batch, err error) {
	switch {
	case err != nil:
		s.unread(err)
		return
	case s.loads() && !read.end && s.state.Cycle.Repeats(read.next):
		s.problem("The loader answered a cursor again that it had answered before: " + read.next)
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

// unread tries to read a page again later, and gives the shard up once that is in vain,
// which it reports. What was read before is sent all the same.
func (s *stint) unread(err error) (vain bool) {
	if errors.Is(err, errUnasked) {
		s.loadAt = time.Now().Add(tuning.WantPause)
		return false
	}
	tries := s.state.LoaderTries
	final := wire.CodeOf(err) == wire.InvalidRequest || wire.CodeOf(err) == wire.NotFound
	if final || (s.loads() && tries >= len(tuning.LoaderWaits)) {
		s.problem(text(err))
		s.state.End = true
		return true
	}
	s.loadAt = time.Now().Add(tuning.LoaderWaits[min(tries, len(tuning.LoaderWaits)-1)])
	s.state.LoaderTries++
	return false
}

// problem is why the shard cannot be complete.
func (s *stint) problem(message string) {
	s.state.Problem = &delivery.Failure{Message: wire.Excerpt(message), At: wire.At(time.Now())}
}
